/* SPDX-License-Identifier: MIT */
/* Notes on processes with live files: which still run, and which were killed. There is one note a
 * kind, however many processes. */
#include "judge/source_fates.h"

#include "object/source_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/end.h"
#include "object/source_notes.h"

#define NAMED 3u /* processes that a note names; the others are counted */

/* FATE_ENDED + enum dft_ending: the process ended in that way. */
enum fate { FATE_RUNNING, FATE_UNSEEN, FATE_ENDED, FATES = FATE_ENDED + DFT_ENDING_RUNNING };

struct fated {
    const struct dft_source_process *named[NAMED];
    struct dft_killed killed;
    uint32_t count;
    uint64_t recovered; /* number of events */
};

/* Returns -1 when there is nothing to note. */
static int fate_of(const struct dft_source_process *process)
{
    if (!process->live_file)
        return -1;
    if (process->exit_kind == DFT_ENDING_RUNNING)
        return FATE_RUNNING;
    if (process->unseen)
        return FATE_UNSEEN;
    return process->exit_kind == DFT_ENDING_KILLED || process->recovered ? FATE_ENDED + process->exit_kind : -1;
}

static void note_one(struct dft_source *source, enum fate fate, const struct dft_source_process *process)
{
    const char *path = source->files[process->live_file - 1].path;
    uint32_t pid = process->process.pid;
    char ended[DFT_ENDED_ROOM];

    if (fate == FATE_RUNNING)
        dft_source_note(source, 0, "%s: process %u is still running; shown is what it did so far", path, pid);
    else if (fate == FATE_UNSEEN)
        dft_source_note(source, 0,
                        "%s: whether process %u still runs cannot be seen from here (it is, or was, in another PID "
                        "namespace or on another machine); shown is what it did so far",
                        path, pid);
    else
        dft_source_note(source, 0, "%s: process %u %s%s; %llu events recovered from this file", path, pid,
                        process->exit_kind != DFT_ENDING_KILLED ? "ended by "
                        : dft_process_signal(process)           ? "was killed by "
                                                                : "was killed (or left by a raw exit_group)",
                        process->exit_kind != DFT_ENDING_KILLED ? dft_ending_text((enum dft_ending)process->exit_kind)
                        : dft_process_signal(process)           ? dft_process_ended(ended, process)
                                                                : "",
                        (unsigned long long)process->recovered);
}

void dft_killed_add(struct dft_killed *killed, const struct dft_source_process *process)
{
    int number = dft_process_signal(process);

    if (!dft_process_is_killed(process))
        return;
    killed->count++;
    killed->signals[number > 0 && number < DFT_SIGNALS ? number : 0]++;
}

void dft_killed_how(FILE *out, const struct dft_killed *killed)
{
    const uint32_t *signals = killed->signals;
    const char *comma = ": ";
    char name[DFT_ENDED_ROOM];

    for (int i = 1; i < DFT_SIGNALS; i++) {
        if (!signals[i])
            continue;
        if (signals[i] < killed->count)
            fprintf(out, "%s%u", comma, signals[i]);
        if (dft_signal_name(name, i))
            fprintf(out, " by %s", name);
        else
            fprintf(out, " by signal %d", i);
        comma = ", ";
    }
    if (signals[0] && signals[0] < killed->count)
        fprintf(out, "%s%u by an unknown signal", comma, signals[0]);
    if (signals[0])
        fputs(" (or left by a raw exit_group)", out);
}

static void note_killed(struct dft_source *source, const struct fated *fated, const char *pids)
{
    char *how = NULL;
    size_t length;
    FILE *out = open_memstream(&how, &length);

    if (!out)
        return;
    dft_killed_how(out, &fated->killed);
    if (!fclose(out))
        dft_source_note(source, 0, "%u processes were killed%s; pids %s; %llu events recovered from their live files",
                        fated->count, how, pids, (unsigned long long)fated->recovered);
    free(how);
}

static void note_many(struct dft_source *source, enum fate fate, const struct fated *fated)
{
    enum dft_ending exit_kind = (enum dft_ending)fated->named[0]->exit_kind;
    char pids[64] = "";

    for (uint32_t i = 0; i < fated->count && i < NAMED; i++)
        sprintf(pids + strlen(pids), "%s%u", i ? ", " : "", fated->named[i]->process.pid);
    if (fated->count > NAMED)
        strcat(pids, " ...");
    if (fate == FATE_RUNNING)
        dft_source_note(source, 0, "%u processes are still running (%s); shown is what they did so far", fated->count,
                        pids);
    else if (fate == FATE_UNSEEN)
        dft_source_note(source, 0,
                        "whether %u processes still run cannot be seen from here (%s: in another PID namespace or on "
                        "another machine); shown is what they did so far",
                        fated->count, pids);
    else if (exit_kind == DFT_ENDING_KILLED)
        note_killed(source, fated, pids);
    else
        dft_source_note(source, 0, "%u processes ended by %s (%s); %llu events recovered from their live files",
                        fated->count, dft_ending_text(exit_kind), pids, (unsigned long long)fated->recovered);
}

void dft_fates_note(struct dft_source *source)
{
    struct fated fates[FATES] = {{{0}}};

    for (uint32_t p = 0; p < source->nprocesses; p++) {
        const struct dft_source_process *process = &source->processes[p];
        int fate = fate_of(process);
        struct fated *fated = fate < 0 ? NULL : &fates[fate];

        if (!fated)
            continue;
        if (fated->count < NAMED)
            fated->named[fated->count] = process;
        fated->count++;
        dft_killed_add(&fated->killed, process);
        fated->recovered += process->recovered;
    }
    for (int fate = 0; fate < FATES; fate++)
        if (fates[fate].count == 1)
            note_one(source, (enum fate)fate, fates[fate].named[0]);
        else if (fates[fate].count)
            note_many(source, (enum fate)fate, &fates[fate]);
}
