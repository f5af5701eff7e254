/* SPDX-License-Identifier: MIT */
/* How the processes of live files ended: what the files say, and whether the process still
 * exists. */
#include "judge/source_ending.h"

#include "object/source_inside.h"
#include "intake/source_exchange.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/end.h"
#include "format/event.h"
#include "format/live_format.h"
#include "format/notes.h"
#include "judge/source_fates.h"
#include "live/source_life.h"
#include "live/told.h"
#include "object/source_notes.h"
#include "object/source_number.h"
#include "object/source_texts.h"

static int end_of(struct dft_source *source, const struct dft_source_file *file, struct dft_source_process *process)
{
    static const uint8_t endings[] = {
        [DFT_LIVE_EXEC] = DFT_ENDING_EXEC, [DFT_LIVE_CLEAN] = DFT_ENDING_EXIT, [DFT_LIVE_FATAL] = DFT_ENDING_SIGNAL};
    struct dft_end end;

    if (!process->known) {
        process->process.pid = file->pid;
        process->known = 1;
        process->file = (uint32_t)(file - source->files);
    }
    if (dft_live_told_kept(source, file, process))
        return -ENOMEM;
    /* The trace has an END, but the live file says otherwise. The exec, or daemon(), failed, and
     * the process went on. */
    if (process->ended && file->live_state != DFT_LIVE_RUNNING) {
        dft_source_end_whole(&process->end, &end);
        end.dropped[DFT_DROP_TORN] += file->torn;
        return dft_source_keep_end(source, &end, &process->end);
    }
    end = *file->end;
    /* A process without its END still drains, though it has begun to end. After an exec, another
     * program runs in the process. */
    process->unseen = file->life == DFT_LIFE_UNKNOWN;
    if (file->life == DFT_LIFE_RUNNING && file->live_state != DFT_LIVE_EXEC)
        process->exit_kind = DFT_ENDING_RUNNING;
    else if (file->live_state < sizeof endings && endings[file->live_state])
        process->exit_kind = file->live_state == DFT_LIVE_CLEAN && file->end->exit_kind ? file->end->exit_kind
                                                                                        : endings[file->live_state];
    else
        process->exit_kind = process->unseen ? DFT_ENDING_UNKNOWN : DFT_ENDING_KILLED;
    if (process->exit_kind != DFT_ENDING_RUNNING) /* else these records will be whole in a moment */
        end.dropped[DFT_DROP_TORN] += file->torn;
    return dft_source_keep_end(source, &end, &process->end);
}

/* Notes wrong uses of annotations, over all processes. */
static void note_misuse(struct dft_source *source)
{
    for (unsigned i = 1; i <= DFT_MISUSE_LAST; i++) {
        uint32_t processes = 0;
        uint64_t count = 0;

        for (uint32_t p = 0; p < source->nprocesses; p++) {
            count += source->processes[p].end.misuse[i];
            processes += source->processes[p].end.misuse[i] != 0;
        }
        if (processes)
            dft_source_note(source, 0, "annotations: %llu %s, in %u process%s", (unsigned long long)count,
                            dft_misuse_text((enum dft_misuse)i), processes, processes == 1 ? "" : "es");
    }
}

/* Every command says so, not only those that count. */
static void note_lost(struct dft_source *source)
{
    for (unsigned reason = 0; reason <= DFT_DROP_LAST; reason++) {
        uint32_t processes = 0;
        uint64_t count = 0;

        for (uint32_t p = 0; p < source->nprocesses; p++) {
            count += source->processes[p].end.dropped[reason];
            processes += source->processes[p].end.dropped[reason] != 0;
        }
        if (processes)
            dft_source_note(source, 0, "%llu event%s lost: %s, in %u process%s", (unsigned long long)count,
                            count == 1 ? "" : "s", dft_drop_text((enum dft_drop)reason), processes,
                            processes == 1 ? "" : "es");
    }
}

/* Nothing says what these processes had not written. */
static void note_endless(struct dft_source *source)
{
    uint32_t count = 0;

    for (uint32_t p = 0; p < source->nprocesses; p++) {
        const struct dft_source_process *process = &source->processes[p];

        count += process->known && !process->ended && !process->live_file;
    }
    if (count)
        dft_source_note(source, 0,
                        "%u process%s without an end or a live file (killed, or still running elsewhere): what %s had "
                        "not written is missing",
                        count, count == 1 ? "" : "es", count == 1 ? "it" : "they");
}

/* Notes what DFTRACER_DATA_DIR kept out of the traces. */
void dft_source_note_outside(struct dft_source *source)
{
    uint32_t processes = 0;
    uint64_t count = 0;

    for (uint32_t p = 0; p < source->nprocesses; p++) {
        count += source->processes[p].end.outside;
        processes += source->processes[p].end.outside != 0;
    }
    if (processes)
        dft_source_note(
            source, 0,
            "%llu call%s outside DFTRACER_DATA_DIR left out, in %u process%s: opens, other calls on paths, and "
            "the first on each inherited descriptor",
            (unsigned long long)count, count == 1 ? "" : "s", processes, processes == 1 ? "" : "es");
}

int dft_source_has_line(struct dft_text lines, const char *line, size_t length)
{
    const char *at = lines.length ? lines.bytes : "", *end = at + lines.length;

    for (; at < end; at += strcspn(at, "\n") + 1)
        if (strcspn(at, "\n") == length && !memcmp(at, line, length))
            return 1;
    return 0;
}

static int weaves(const struct dft_source_process *process)
{
    return process->ended && process->known && strstr(process->process.options.bytes, "DFTRACER_WEAVE=");
}

/* Is it a function to be woven that no library of any process had? */
static int is_unmet(const struct dft_source *source, const char *line, size_t length)
{
    for (uint32_t p = 0; p < source->nprocesses; p++)
        if (weaves(&source->processes[p]) && !dft_source_has_line(source->processes[p].end.unmet, line, length))
            return 0;
    return 1;
}

static void note_unmet(struct dft_source *source)
{
    enum { SHOWN = 8 };
    const char *line = NULL, *end = NULL;
    char names[512] = "";
    unsigned count = 0;

    for (uint32_t p = 0; p < source->nprocesses && !line; p++)
        if (weaves(&source->processes[p])) {
            line = source->processes[p].end.unmet.bytes;
            end = line + source->processes[p].end.unmet.length;
        }
    for (size_t length; line < end; line += length + 1) {
        length = strcspn(line, "\n");
        if (!is_unmet(source, line, length))
            continue;
        if (count < SHOWN && strlen(names) + length + 3 < sizeof names)
            sprintf(names + strlen(names), "%s%.*s", count ? ", " : "", (int)length, line);
        count++;
    }
    if (count)
        dft_source_note(source, 0, "DFTRACER_WEAVE: %u function%s in no library that was loaded: %s%s", count,
                        count == 1 ? " was" : "s were", names, count > SHOWN ? " ..." : "");
}

static int has_option(struct dft_text options, const char *option)
{
    return options.length && memmem(options.bytes, options.length, option, strlen(option)) != NULL;
}

int dft_source_was_rewritten(const struct dft_source_process *process)
{
    return process->known && dft_source_has_line(process->process.notes, DFT_NOTES_REMOVED, strlen(DFT_NOTES_REMOVED));
}

/* What had been removed together with these traces nobody knows: that of programs that had ended. */
static void note_removed(struct dft_source *source)
{
    uint32_t processes = 0;

    for (uint32_t p = 0; p < source->nprocesses; p++)
        processes += dft_source_was_rewritten(&source->processes[p]) != 0;
    if (processes)
        dft_source_note(source, DFT_BAD_GONE,
                        "traces were removed while the job ran: %u program%s wrote %s again, whole; traces of programs "
                        "that had ended before may be missing",
                        processes, processes == 1 ? "" : "s", processes == 1 ? "its trace" : "their traces");
}

/* Notes what DFTRACER_PRIVATE kept out of the traces, so that nobody looks for it. */
static void note_private(struct dft_source *source)
{
    uint32_t processes = 0;

    for (uint32_t p = 0; p < source->nprocesses; p++)
        processes +=
            source->processes[p].known && has_option(source->processes[p].process.options, "DFTRACER_PRIVATE=1\n");
    if (processes)
        dft_source_note(source, 0, "DFTRACER_PRIVATE: command lines and texts of arguments left out, in %u process%s",
                        processes, processes == 1 ? "" : "es");
}

/* Did the process write rows in place of events, all the time or a part of it? Our processes say
 * so. */
static int keeps_rows_alone(const struct dft_source_process *process)
{
    struct dft_text options = process->process.options;

    if (!process->known || !process->process.clock_offset)
        return !process->events || process->process.kept.length;
    return process->process.kept.length || has_option(options, "DFTRACER_ENABLE_AGGREGATION=1") ||
           has_option(options, "DFTRACER_AGGREGATION_TYPE=");
}

/* A live file counts what its process has written to the trace: what the file holds itself is not meant. */
static uint64_t events_here(const struct dft_source_process *process)
{
    uint64_t events = process->events - (process->live_file ? process->live_events : 0), rows = 0;

    if (keeps_rows_alone(process))
        rows = process->rows_only - (process->live_file ? process->live_rows : 0);
    return rows < UINT64_MAX - events ? events + rows : UINT64_MAX;
}

uint64_t dft_source_missing(const struct dft_source_process *process)
{
    uint64_t here = events_here(process);

    return (process->ended || process->live_file) && !process->parts && process->end.events > here
               ? process->end.events - here
               : 0;
}

/* Marks processes of files that merge makes of groups. Such a file has all processes. The file
 * holds only the group's events of each process: perhaps none. */
static void mark_archived(struct dft_source *source)
{
    uint32_t *processes = calloc(source->nfiles + 1u, sizeof *processes);

    for (uint32_t p = 0; processes && p < source->nprocesses; p++)
        processes[source->processes[p].file]++;
    for (uint32_t p = 0; processes && p < source->nprocesses; p++) {
        struct dft_source_process *process = &source->processes[p];

        process->parts |= !process->events && !process->rows_only && processes[process->file] > 1;
    }
    free(processes);
}

void dft_missing_notes(struct dft_source *source)
{
    mark_archived(source);
    for (uint32_t p = 0; p < source->nprocesses; p++) {
        const struct dft_source_process *process = &source->processes[p];

        if (dft_source_missing(process))
            dft_source_note(source, DFT_BAD_UNREAD, "%s: process %u wrote %llu events%s, %s%llu are here",
                            source->files[process->file].path, process->process.pid,
                            (unsigned long long)process->end.events, process->live_file ? " to its trace" : "",
                            keeps_rows_alone(process) && events_here(process) ? "at most " : "",
                            (unsigned long long)events_here(process));
    }
}

void dft_live_notes(struct dft_source *source)
{
    note_lost(source);
    note_endless(source);
    note_misuse(source);
    note_unmet(source);
    note_private(source);
    note_removed(source);
    dft_source_hindrances(source, 0);
    dft_fates_note(source);
}

int dft_live_processes(struct dft_source *source)
{
    int rc = 0;

    for (uint32_t f = 0; f < source->nfiles; f++) {
        struct dft_source_file *file = &source->files[f];
        const struct dft_source_process *process =
            file->kind == DFT_FILE_LIVE && file->key ? dft_process_of(source, file->key) : NULL;

        if (process)
            file->life = (uint8_t)dft_life_known((enum dft_life)file->life, &process->process);
    }
    dft_exchange_running(source);
    for (uint32_t f = 0; !rc && f < source->nfiles; f++) {
        const struct dft_source_file *file = &source->files[f];
        struct dft_source_process *process =
            file->kind == DFT_FILE_LIVE && file->key ? dft_process_of(source, file->key) : NULL;

        if (!process)
            continue;
        process->live_file = f + 1;
        rc = end_of(source, file, process);
    }
    return rc;
}
