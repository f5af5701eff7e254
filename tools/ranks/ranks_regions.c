/* SPDX-License-Identifier: MIT */
/* dftmerge ranks: the innermost region that each suspect was in at its spike. With several threads, the region that
 * began last counts. */
#include "ranks/ranks_regions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/event.h"
#include "mpi/comm.h"
#include "intake/source_names.h"
#include "intake/source_visit.h"

#define SUSPECTS_MAX 64u /* of one measure */

struct looking {
    struct dft_ranks_job *job;
    pthread_mutex_t lock;
};

static void want(struct dft_ranks_job *job, const struct dft_first_cause *cause)
{
    for (uint32_t i = 0; i < cause->nsuspects && i < SUSPECTS_MAX; i++)
        job->moments[job->nmoments++] = (struct dft_ranks_moment){.rank = cause->suspects[i].rank,
                                                                  .time_ns = (uint64_t)cause->suspects[i].aligned_ns};
}

static int select_block(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    const struct looking *looking = context;
    const struct dft_ranks_job *job = looking->job;
    uint32_t rank = job->rank_of[process->number];

    if (!rank || block->type != DFT_BLOCK_EVENTS ||
        (block->state != DFT_BLOCK_USED && block->state != DFT_BLOCK_OVERLAPS))
        return 0;
    for (uint32_t m = 0; m < job->nmoments; m++) {
        const struct dft_ranks_moment *moment = &job->moments[m];
        uint64_t shift = (uint64_t)dft_clocks_shift(&job->clocks, process->number, moment->time_ns);

        if (moment->rank == rank - 1 && block->start + shift <= moment->time_ns &&
            (block->end + shift >= moment->time_ns || block->first > block->last))
            return 1;
    }
    return 0;
}

static int look(void *context, unsigned worker, const struct dft_source_process *process, const struct dft_block *block,
                struct dft_batch *batch)
{
    struct looking *looking = context;
    struct dft_ranks_job *job = looking->job;

    (void)worker;
    (void)block;
    for (uint32_t i = 0; i < batch->count; i++) {
        const struct dft_event *event = &batch->events[i];
        uint64_t start = event->start_ns;

        if (batch->calls[event->call].op != DFT_OP_REGION ||
            (event->phase != DFT_PHASE_COMPLETE && !(event->bits & DFT_BIT_OPEN)))
            continue;
        start += (uint64_t)dft_clocks_shift(&job->clocks, process->number, start);
        for (uint32_t m = 0; m < job->nmoments; m++) {
            struct dft_ranks_moment *moment = &job->moments[m];

            if (moment->rank != job->rank_of[process->number] - 1 || start > moment->time_ns ||
                (start + event->dur_ns <= moment->time_ns && !(event->bits & DFT_BIT_OPEN)))
                continue;
            pthread_mutex_lock(&looking->lock);
            if (!moment->region || start > moment->start_ns ||
                (start == moment->start_ns && batch->calls[event->call].id < moment->region)) {
                moment->region = batch->calls[event->call].id;
                moment->start_ns = start;
            }
            pthread_mutex_unlock(&looking->lock);
        }
    }
    return 0;
}

/* What another rank of dftmerge-mpi has found. */
static int take(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct dft_ranks_job *job = context;
    const struct dft_ranks_moment *found = bytes;

    (void)rank;
    for (size_t m = 0; m < length / sizeof *found; m++)
        if (found[m].region &&
            (!job->moments[m].region || found[m].start_ns > job->moments[m].start_ns ||
             (found[m].start_ns == job->moments[m].start_ns && found[m].region < job->moments[m].region)))
            job->moments[m] = found[m];
    return 0;
}

static int fetch_names(struct dft_ranks_job *job)
{
    uint64_t *ids = malloc((job->nmoments + 1u) * sizeof *ids);
    uint32_t n = 0;
    int rc;

    for (uint32_t m = 0; ids && m < job->nmoments; m++)
        if (job->moments[m].region)
            ids[n++] = job->moments[m].region;
    rc = ids ? dft_source_names(job->source, ids, n) : -ENOMEM;
    free(ids);
    return rc;
}

static int find(struct dft_ranks_job *job)
{
    struct looking looking = {.job = job, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct dft_ranks_moment *own;
    int rc =
        dft_source_visit(job->source, &(struct dft_visit){.context = &looking, .select = select_block, .events = look});

    own = rc ? NULL : malloc(job->nmoments * sizeof *own);
    rc = dft_comm_agree(rc ? rc : own ? 0 : -ENOMEM);
    if (!rc) {
        memcpy(own, job->moments, job->nmoments * sizeof *own);
        rc = dft_comm_exchange(own, job->nmoments * sizeof *own, take, job);
    }
    free(own);
    return rc ? rc : fetch_names(job);
}

int dft_ranks_regions(struct dft_ranks_job *job)
{
    job->moments = calloc((DFT_RANKS_MEASURES + DFT_SAMPLED) * SUSPECTS_MAX, sizeof *job->moments);
    if (dft_comm_agree(job->moments ? 0 : -ENOMEM))
        return -ENOMEM;
    for (int m = 0; m < DFT_RANKS_MEASURES; m++)
        want(job, &job->measured[m].cause);
    for (int m = 0; m < DFT_SAMPLED; m++)
        want(job, &job->sampled[m].cause);
    return job->nmoments ? find(job) : 0;
}

int dft_ranks_phases(struct dft_ranks_job *job, const struct dft_first_cause *cause)
{
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(job->source, &count);

    job->rank_of = calloc(count + 1u, sizeof *job->rank_of);
    job->moments = calloc(SUSPECTS_MAX, sizeof *job->moments);
    if (!job->rank_of || !job->moments)
        return -ENOMEM;
    for (uint32_t p = 0; p < count; p++)
        job->rank_of[p] = (uint32_t)(processes[p].process.rank + 1);
    want(job, cause);
    for (uint32_t i = 0; i < job->nmoments; i++)
        job->moments[i].time_ns = (uint64_t)cause->suspects[i].time_ns;
    return job->nmoments ? find(job) : 0;
}

uint64_t dft_ranks_region(const struct dft_ranks_job *job, const struct dft_suspect *suspect)
{
    for (uint32_t m = 0; m < job->nmoments; m++)
        if (job->moments[m].rank == suspect->rank && job->moments[m].time_ns == (uint64_t)suspect->aligned_ns)
            return job->moments[m].region;
    return 0;
}
