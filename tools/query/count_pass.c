/* SPDX-License-Identifier: MIT */
/* A pass over the blocks: each thread counts into a partial aggregate of its own, which is merged
 * into the common one when it has grown; what does not fit into memory goes into the spill file
 * (spill.c). At last rank 0 has the sum. */
#include "query/count_pass.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/event.h"
#include "mpi/comm.h"
#include "query/count_events.h"
#include "query/count_rows.h"
#include "query/execution.h"
#include "query/grouper.h"
#include "query/partial.h"
#include "query/spill.h"
#include "views/filter.h"
#include "intake/source_names.h"
#include "object/object.h"
#include "intake/source_visit.h"

static void add_stats(struct dft_stats *into, const struct dft_stats *from)
{
    into->events += from->events;
    into->events_kept += from->events_kept;
    into->unsplit += from->unsplit;
    into->placed_events += from->placed_events;
    into->placed_rows += from->placed_rows;
    into->inexact += from->inexact;
    into->shared += from->shared;
    into->coarse += from->coarse;
    into->batches += from->batches;
    into->file_rows += from->file_rows;
    into->unknown += from->unknown;
    into->busy_unknown += from->busy_unknown;
    into->folded += from->folded;
    into->undecided += from->undecided;
    into->second_files += from->second_files;
    into->second_hidden += from->second_hidden;
}

/* --- a pass ----------------------------------------------------------------------------------- */

/* What counting puts into an event in place of what the next query needs. */
struct look {
    uint64_t region;
    uint32_t call;
};

struct looks {
    struct look *list;
    size_t capacity;
};

/* The queries that one visit counts. */
struct counting {
    struct dft_execution *const *executions;
    unsigned count;
    struct looks *looks; /* by worker */
};

static int keep_looks(struct looks *looks, const struct dft_batch *batch)
{
    if (DFT_ARRAY_RESERVE(looks->list, looks->capacity, batch->count))
        return -ENOMEM;
    for (uint32_t i = 0; i < batch->count; i++)
        looks->list[i] = (struct look){batch->events[i].region, batch->events[i].call};
    return 0;
}

static void restore_looks(const struct looks *looks, struct dft_batch *batch)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        batch->events[i].region = looks->list[i].region;
        batch->events[i].call = looks->list[i].call;
    }
}

/* Queries answered from rows and queries answered from events read different blocks. */
static int looks_at(const struct dft_execution *execution, const struct dft_block *block)
{
    return block->use & (execution->rows_only ? DFT_IN_ROWS : DFT_IN_EVENTS) &&
           !__atomic_load_n(&execution->not_exact, __ATOMIC_RELAXED);
}

/* A query that rows do not answer is counted from events later; the others go on. */
static int count_on(struct dft_execution *execution, int rc)
{
    if (rc != DFT_NOT_EXACT)
        return rc;
    __atomic_store_n(&execution->not_exact, 1, __ATOMIC_RELAXED);
    return 0;
}

static int count_events(void *context, unsigned worker, const struct dft_source_process *process,
                        const struct dft_block *block, struct dft_batch *batch)
{
    struct counting *counting = context;
    int rc = counting->count > 1 ? keep_looks(&counting->looks[worker], batch) : 0, is_changed = 0;

    for (unsigned i = 0; i < counting->count && !rc; i++) {
        struct dft_execution *execution = counting->executions[i];

        if (!looks_at(execution, block))
            continue;
        if (is_changed)
            restore_looks(&counting->looks[worker], batch);
        is_changed = 1;
        rc = count_on(execution, dft_count_events(execution, &execution->workers[worker], process, block, batch));
    }
    return rc;
}

static int count_buckets(void *context, unsigned worker, const struct dft_source_process *process,
                         const struct dft_block *block, struct dft_buckets *buckets)
{
    struct counting *counting = context;
    int rc = 0;

    for (unsigned i = 0; i < counting->count && !rc; i++) {
        struct dft_execution *execution = counting->executions[i];

        if (looks_at(execution, block))
            rc = count_on(execution, dft_count_rows(execution, &execution->workers[worker], process, block, buckets));
    }
    return rc;
}

static int is_asked(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    const struct counting *counting = context;
    unsigned i = 0;

    while (i < counting->count && !looks_at(counting->executions[i], block))
        i++;
    return i < counting->count && block->count && dft_filter_block(counting->executions[0]->filter, process, block);
}

static int begin(struct dft_execution *execution)
{
    int histograms = execution->histograms;
    int rc = dft_partial_init(&execution->total, histograms);

    execution->not_exact = 0;
    memset(&execution->stats, 0, sizeof execution->stats);
    for (unsigned i = 0; !rc && i < execution->nworkers; i++) {
        struct dft_worker *worker = &execution->workers[i];

        rc = dft_partial_init(&worker->partial, histograms);
        worker->memo = calloc(DFT_MEMO, sizeof *worker->memo);
        if (!worker->memo)
            rc = -ENOMEM;
    }
    return rc;
}

/* The threads' memory goes. */
static void end(struct dft_execution *execution)
{
    for (unsigned i = 0; i < execution->nworkers; i++) {
        struct dft_worker *worker = &execution->workers[i];

        add_stats(&execution->stats, &worker->stats);
        memset(&worker->stats, 0, sizeof worker->stats);
        dft_partial_fini(&worker->partial);
        free(worker->memo);
        dft_grouper_fini(&worker->grouper);
        worker->memo = NULL;
        memset(worker->rows, 0, sizeof worker->rows);
        memset(worker->regions, 0, sizeof worker->regions);
    }
}

/* What all ranks have counted, on rank 0, or in the spill files. Collective. */
static int gather(struct dft_execution *execution)
{
    int spilled = dft_comm_agree(execution->partitions.count != 0), rc = 0;

    if (!spilled) {
        rc = dft_reduce_total(execution);
        spilled = rc ? 0 : dft_comm_agree(execution->partitions.count != 0);
    }
    if (!rc && spilled)
        rc = dft_spill_end(execution);
    execution->spilled = spilled;
    return rc;
}

/* The rest of a pass, for one query. */
static int sum_up(struct dft_execution *execution, int rc)
{
    for (unsigned i = 0; !rc && i < execution->nworkers; i++)
        rc = dft_merge_worker(execution, &execution->workers[i]);
    end(execution);
    rc = dft_comm_agree(rc ? rc : execution->not_exact ? DFT_NOT_EXACT : 0);
    execution->not_exact = rc == DFT_NOT_EXACT;
    if (!rc)
        rc = gather(execution);
    dft_comm_sum((uint64_t *)&execution->stats, sizeof execution->stats / sizeof(uint64_t));
    if (rc || execution->spilled)
        dft_partial_fini(&execution->total);
    return rc == DFT_NOT_EXACT ? 0 : rc;
}

/* Counts queries that read the same blocks. */
static int pass(struct dft_execution *const *executions, unsigned count)
{
    unsigned nworkers = executions[0]->nworkers;
    struct counting counting = {executions, count, calloc(nworkers, sizeof *counting.looks)};
    struct dft_visit visit = {.context = &counting,
                              .select = is_asked,
                              .events = count_events,
                              .buckets = count_buckets,
                              .progress = "blocks counted"};
    int rc = counting.looks ? 0 : -ENOMEM, first = 0;

    for (unsigned i = 0; i < count; i++) {
        rc = rc ? rc : begin(executions[i]);
        executions[i]->when_full = executions[i]->in_memory ? DFT_FULL_ENDS : DFT_FULL_SPILLS;
    }
    rc = dft_comm_agree(rc);
    if (!rc)
        rc = dft_source_visit(executions[0]->source, &visit);
    for (unsigned i = 0; i < count; i++) {
        int summed = sum_up(executions[i], rc);

        first = first ? first : summed;
    }
    for (unsigned i = 0; counting.looks && i < nworkers; i++)
        free(counting.looks[i].list);
    free(counting.looks);
    return first;
}

/* The same blocks once more. */
static void forget(struct dft_execution *execution)
{
    dft_partial_fini(&execution->total);
    dft_spill_clear(execution);
}

static int count_many(struct dft_execution *const *executions, unsigned count)
{
    struct dft_execution *others[DFT_QUERIES_MAX];
    unsigned n = 0;
    int unknown = 0, rc = pass(executions, count);

    for (unsigned i = 0; i < count; i++)
        unknown |= executions[i]->stats.unknown != 0;
    if (!rc && unknown) {
        rc = dft_source_names_locate(executions[0]->source);
        for (unsigned i = 0; i < count && !rc; i++)
            forget(executions[i]);
        rc = rc ? rc : pass(executions, count);
    }
    for (unsigned i = 0; i < count && !rc; i++) {
        if (!executions[i]->not_exact)
            continue;
        executions[i]->rows_only = 0; /* so events answer, and rows in their place can be cut */
        forget(executions[i]);
        others[n++] = executions[i];
    }
    return rc || !n ? rc : count_many(others, n);
}

/* Groups by file or stack are many, others few. */
static unsigned weight_of(const struct dft_execution *execution)
{
    return DFT_HAS_FILES(execution) || DFT_HAS_STACKS(execution) ? 4 : 1;
}

static void share_memory(struct dft_execution *const *executions, unsigned count)
{
    unsigned all = 0;

    for (unsigned i = 0; i < count; i++)
        all += weight_of(executions[i]);
    for (unsigned i = 0; i < count; i++) {
        executions[i]->budget = executions[i]->budget / all * weight_of(executions[i]);
        executions[i]->share = executions[i]->share / all * weight_of(executions[i]);
    }
}

int dft_count(struct dft_execution *const *executions, unsigned count)
{
    share_memory(executions, count);
    return count_many(executions, count);
}
