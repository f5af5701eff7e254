/* SPDX-License-Identifier: MIT */
/* Notes on traces that may still lie in a stage. A rank that was killed leaves its trace there, and a
 * rank that made no call has none. So the notes name the place, and say what may be there. */
#include "judge/source_staged.h"

#include <stdio.h>
#include <string.h>

#include "object/source_inside.h"
#include "object/source_notes.h"

#define SETTING   "DFTRACER_STAGE_DIR="
#define NO_EFFECT " (no effect)"
#define HOSTS     4u /* that are named */

/* The stage of a process, where it had one. A stage that could not serve stands there twice: as a setting, and as one
 * without effect. */
static struct dft_text stage_of(const struct dft_source_process *process)
{
    struct dft_text options = process->process.options, stage = {0};
    const char *at = options.bytes;

    for (uint32_t left = options.length; left;) {
        const char *newline = memchr(at, '\n', left);
        uint32_t length = newline ? (uint32_t)(newline - at) : left;

        if (length >= strlen(SETTING) && !memcmp(at, SETTING, strlen(SETTING))) {
            if (memmem(at, length, NO_EFFECT, strlen(NO_EFFECT)))
                return (struct dft_text){0};
            stage = (struct dft_text){at + strlen(SETTING), length - (uint32_t)strlen(SETTING)};
        }
        left -= length + (newline != NULL);
        at += length + (newline != NULL);
    }
    return stage;
}

/* Hosts on which processes of the job were staged: "n1, n2 ...". */
static void put_hosts(const struct dft_source *source, uint32_t job, char *text, size_t size)
{
    struct dft_text seen[HOSTS];
    size_t used = 0;
    uint32_t n = 0;

    *text = 0;
    for (uint32_t p = 0; p < source->nprocesses; p++) {
        struct dft_text host = source->processes[p].process.host;
        uint32_t k = 0;

        if (source->processes[p].job != job || !host.length || !stage_of(&source->processes[p]).length)
            continue;
        while (k < n && (seen[k].length != host.length || memcmp(seen[k].bytes, host.bytes, host.length) != 0))
            k++;
        if (k < n)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%.*s", n ? ", " : "", n < HOSTS ? (int)host.length : 3,
                                 n < HOSTS ? host.bytes : "...");
        if (n == HOSTS || used >= size)
            return;
        seen[n++] = host;
    }
}

static struct dft_text stage_of_job(const struct dft_source *source, uint32_t job)
{
    struct dft_text stage = {0};

    for (uint32_t p = 0; p < source->nprocesses && !stage.length; p++)
        if (source->processes[p].job == job)
            stage = stage_of(&source->processes[p]);
    return stage;
}

static void note_job(struct dft_source *source, const struct dft_source_job *job)
{
    struct dft_text stage = {0};
    char hosts[512];

    if (job->left_out || !job->ranks || job->ranks >= job->world_size ||
        !(stage = stage_of_job(source, job->number + 1)).length)
        return;
    put_hosts(source, job->number + 1, hosts, sizeof hosts);
    dft_source_note(source, 0,
                    "job %s: %u of %u ranks have a trace here; those of others may be in their stage %.*s, on nodes as "
                    "%s: there, `dftmerge collect -o DIR %.*s`",
                    job->name, job->ranks, job->world_size, (int)stage.length, stage.bytes, hosts, (int)stage.length,
                    stage.bytes);
}

void dft_staged_notes(struct dft_source *source)
{
    uint32_t count;
    const struct dft_source_job *jobs = dft_source_jobs(source, &count);

    for (uint32_t j = 0; j < count; j++)
        note_job(source, &jobs[j]);
    for (uint32_t p = 0; p < source->nprocesses; p++) {
        const struct dft_source_process *process = &source->processes[p];
        struct dft_text stage = stage_of(process);

        if (stage.length && process->known && !process->ended && !process->live_file)
            dft_source_note(source, 0,
                            "%s: process %u has no end: what it wrote last may be in its stage %.*s on %.*s: there, "
                            "`dftmerge collect -o DIR %.*s`",
                            source->files[process->file].path, process->process.pid, (int)stage.length, stage.bytes,
                            (int)process->process.host.length, process->process.host.bytes, (int)stage.length,
                            stage.bytes);
    }
}
