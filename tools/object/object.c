/* SPDX-License-Identifier: MIT */
/* What a source consists of: made, freed, and viewed by every stage and command. */
#include "object/object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/names.h"
#include "format/end.h"
#include "mpi/comm.h"
#include "symbols/symbols.h"
#include "object/source_inside.h"
#include "object/source_texts.h"

#define THREADS_DEFAULT_MAX 16

static void choose_threads(struct dft_source *source, unsigned wanted)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    if (!wanted && dft_comm_size() > 1)
        wanted = 1; /* the user has chosen as many ranks as suit the machine */
    if (!wanted)
        wanted = cpus < 1 ? 1 : cpus > THREADS_DEFAULT_MAX ? THREADS_DEFAULT_MAX : (unsigned)cpus;
    source->threads = wanted > DFT_THREADS_MAX ? DFT_THREADS_MAX : wanted;
}

struct dft_source *dft_source_create(const struct dft_source_options *options)
{
    struct dft_source *source = calloc(1, sizeof *source);

    if (!source)
        return NULL;
    dft_names_enter();
    pthread_mutex_init(&source->notes.lock, NULL);
    pthread_mutex_init(&source->located_lock, NULL);
    pthread_mutex_init(&source->texts.lock, NULL);
    pthread_mutex_init(&source->contents.lock, NULL);
    source->quiet = options->quiet;
    source->fitted = SIZE_MAX;
    source->dedupe = options->dedupe;
    source->no_index = options->no_index;
    source->copied = options->copied;
    source->period_ns = options->period_ns;
    source->period_ends = options->period_ends;
    choose_threads(source, options->threads);
    source->names = dft_names_create(dft_symbols_show);
    if (!source->names) {
        dft_source_close(source);
        return NULL;
    }
    return source;
}

void dft_source_close(struct dft_source *source)
{
    if (!source)
        return;
    for (uint32_t f = 0; f < source->nfiles; f++) {
        free((char *)(uintptr_t)source->files[f].path);
        free(source->files[f].memory);
        free(source->files[f].rows);
        free(source->files[f].counts);
        free(source->files[f].end);
        free(source->files[f].snapshot);
        free(source->files[f].blocks_path);
    }
    for (unsigned i = 0; i < DFT_THREADS_MAX; i++)
        if (source->spill[i])
            close(source->spill[i] - 1);
    free(source->files);
    free(source->blocks);
    free(source->processes);
    free(source->by_key);
    free(source->groups);
    for (uint32_t j = 0; j < source->njobs; j++)
        free(source->jobs[j].name);
    free(source->jobs);
    for (uint32_t r = 0; r < source->nruns; r++)
        free(source->runs[r].name);
    free(source->runs);
    dft_interned_texts_fini(&source->texts);
    dft_interned_texts_fini(&source->contents);
    pthread_mutex_destroy(&source->texts.lock);
    pthread_mutex_destroy(&source->contents.lock);
    for (size_t i = 0; i < source->notes.count; i++)
        free(source->notes.lines[i]);
    free(source->notes.lines);
    free(source->notes.shown);
    pthread_mutex_destroy(&source->notes.lock);
    pthread_mutex_destroy(&source->located_lock);
    dft_map_fini(&source->located);
    dft_names_destroy(source->names);
    dft_names_leave();
    free(source);
}

unsigned dft_source_threads(const struct dft_source *source)
{
    return source->threads;
}

const struct dft_source_file *dft_source_files(const struct dft_source *source, uint32_t *count)
{
    *count = source->nfiles;
    return source->files;
}

int dft_source_is_mine(const struct dft_source *source, uint32_t file)
{
    return source->files[file].owner == dft_comm_rank();
}

const struct dft_block *dft_source_blocks(const struct dft_source *source, size_t *count)
{
    *count = source->nblocks;
    return source->blocks;
}

const struct dft_source_process *dft_source_processes(const struct dft_source *source, uint32_t *count)
{
    *count = source->nprocesses;
    return source->processes;
}

void dft_source_span(const struct dft_source *source, uint64_t *start_ns, uint64_t *end_ns)
{
    *start_ns = source->start_ns;
    *end_ns = source->end_ns;
}

/* One that had no time to say so left its live file alone. */
int dft_process_knows_status(const struct dft_source_process *process)
{
    if (process->exit_kind == DFT_ENDING_KILLED)
        return process->end.status != 0;
    return (process->ended || process->waited) && process->exit_kind != DFT_ENDING_RUNNING && !process->unseen;
}

int dft_process_is_killed(const struct dft_source_process *process)
{
    return process->exit_kind == DFT_ENDING_KILLED || process->exit_kind == DFT_ENDING_SIGNAL;
}

int dft_process_signal(const struct dft_source_process *process)
{
    if (!dft_process_is_killed(process))
        return 0;
    return process->end.status < 0 ? -process->end.status : process->end.status;
}

const char *dft_signal_name(char text[DFT_ENDED_ROOM], int number)
{
    const char *name = number > 0 ? sigabbrev_np(number) : NULL;

    snprintf(text, DFT_ENDED_ROOM, "SIG%s", name ? name : "");
    return name ? text : NULL;
}

const char *dft_process_ended(char text[DFT_ENDED_ROOM], const struct dft_source_process *process)
{
    const char *how = dft_ending_text((enum dft_ending)process->exit_kind);
    int number = dft_process_signal(process);

    if (dft_signal_name(text, number))
        return text;
    if (number)
        snprintf(text, DFT_ENDED_ROOM, "signal %d", number);
    else if (dft_process_knows_status(process) && process->end.status)
        snprintf(text, DFT_ENDED_ROOM, "%s %d", how, process->end.status);
    else
        snprintf(text, DFT_ENDED_ROOM, "%s", how);
    return text;
}

void dft_process_lifetime(const struct dft_source_process *process, uint64_t *start_ns, uint64_t *end_ns)
{
    *start_ns = process->process.start_ns;
    *end_ns = process->end.time_ns;
    if (!*start_ns || (process->start_ns && process->start_ns < *start_ns))
        *start_ns = process->start_ns;
    if (*end_ns < process->end_ns)
        *end_ns = process->end_ns;
    if (*end_ns < *start_ns)
        *end_ns = *start_ns;
}

void dft_source_find_lives(const struct dft_source *source, uint64_t *starts, uint64_t *ends)
{
    for (uint32_t p = 0; p < source->nprocesses; p++)
        dft_process_lifetime(&source->processes[p], &starts[p], &ends[p]);
    for (size_t i = 0; i < source->nblocks; i++) {
        const struct dft_block *block = &source->blocks[i];
        uint64_t *start_ns = &starts[block->process], *end_ns = &ends[block->process];

        if ((block->type != DFT_BLOCK_EVENTS && block->type != DFT_BLOCK_BUCKETS) || !block->start)
            continue;
        if (!*start_ns || block->start < *start_ns)
            *start_ns = block->start;
        if (block->end > *end_ns)
            *end_ns = block->end;
    }
    for (uint32_t p = 0; p < source->nprocesses; p++)
        if (ends[p] < starts[p])
            ends[p] = starts[p];
}

void dft_source_lives(const struct dft_source *source, uint64_t *start_ns, uint64_t *end_ns)
{
    uint64_t start, end;

    dft_source_span(source, start_ns, end_ns);
    for (uint32_t p = 0; p < source->nprocesses; p++) {
        dft_process_lifetime(&source->processes[p], &start, &end);
        if (start && (!*start_ns || start < *start_ns))
            *start_ns = start;
        if (end > *end_ns)
            *end_ns = end;
    }
}

size_t dft_source_used(const struct dft_source *source, enum dft_block_type type)
{
    return type < DFT_TYPES ? source->used[type] : 0;
}

enum dft_kept_events dft_source_kept(const struct dft_source *source)
{
    int rows = 0, events = 0;

    for (size_t i = 0; i < source->nblocks; i++) {
        const struct dft_block *block = &source->blocks[i];

        if (block->use & DFT_IN_EVENTS && block->count) {
            rows |= block->type == DFT_BLOCK_BUCKETS;
            events |= block->type == DFT_BLOCK_EVENTS;
        }
    }
    return !rows ? DFT_KEPT_ALL : events ? DFT_KEPT_SOME : DFT_KEPT_NONE;
}

struct dft_names *dft_source_names_table(const struct dft_source *source)
{
    return source->names;
}

const struct dft_source_job *dft_source_jobs(const struct dft_source *source, uint32_t *count)
{
    *count = source->njobs;
    return source->jobs;
}

const struct dft_source_job *dft_source_runs(const struct dft_source *source, uint32_t *count, uint32_t *apart)
{
    *count = source->nruns;
    if (apart)
        *apart = source->unnamed_apart;
    return source->runs;
}

const char *dft_source_job_name(const struct dft_source *source, const struct dft_source_process *process)
{
    return process->job ? source->jobs[process->job - 1].name : NULL;
}

const char *dft_source_run_name(const struct dft_source *source, const struct dft_source_process *process)
{
    const struct dft_source_job *run = &source->runs[process->run - 1];

    return run->id.length ? run->name : NULL;
}
