/* SPDX-License-Identifier: MIT */
/* A pass over the blocks: each thread counts into a partial aggregate of its own, which is merged
 * into the common one when it has grown; what does not fit into memory goes into the spill file
 * (spill.c). At last rank 0 has the sum. */
#include "query/count_pass.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "query/count_events.h"
#include "query/count_rows.h"
#include "query/execution.h"
#include "query/grouper.h"
#include "query/partial.h"
#include "query/rollup_count.h"
#include "query/spill.h"
#include "source/filter.h"
#include "source/source_names.h"
#include "source/source_object.h"
#include "source/source_visit.h"

static void add_stats(struct dft_stats *into, const struct dft_stats *from)
{
    into->events += from->events;
    into->events_kept += from->events_kept;
    into->unsplit += from->unsplit;
    into->inexact += from->inexact;
    into->shared += from->shared;
    into->coarse += from->coarse;
    into->batches += from->batches;
    into->file_rows += from->file_rows;
    into->unknown += from->unknown;
    into->busy_unknown += from->busy_unknown;
    into->second_files += from->second_files;
}

/* --- a pass ----------------------------------------------------------------------------------- */

static int count_events(void *context, unsigned worker, const struct dft_source_process *process,
                        const struct dft_block *block, struct dft_batch *batch)
{
    struct dft_execution *execution = context;

    return dft_count_events(execution, &execution->workers[worker], process, block, batch);
}

static int count_buckets(void *context, unsigned worker, const struct dft_source_process *process,
                         const struct dft_block *block, struct dft_buckets *buckets)
{
    struct dft_execution *execution = context;

    return dft_count_rows(execution, &execution->workers[worker], process, block, buckets);
}

static int is_asked(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    struct dft_execution *execution = context;

    return block->use & (execution->rows_only ? DFT_IN_ROWS : DFT_IN_EVENTS) && block->count &&
           dft_filter_block(execution->filter, process, block);
}

static int begin(struct dft_execution *execution)
{
    int histograms = execution->histograms;
    int rc = dft_partial_init(&execution->total, histograms);

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

static int pass(struct dft_execution *execution)
{
    struct dft_visit visit = {.context = execution,
                              .select = is_asked,
                              .events = count_events,
                              .buckets = count_buckets,
                              .progress = "blocks counted"};
    int rc = dft_comm_agree(begin(execution));

    execution->when_full = execution->in_memory ? DFT_FULL_ENDS : DFT_FULL_SPILLS;
    if (!rc)
        rc = execution->rollup ? dft_count_rollup(execution, &execution->workers[0])
                               : dft_source_visit(execution->source, &visit);
    for (unsigned i = 0; !rc && i < execution->nworkers; i++)
        rc = dft_merge_worker(execution, &execution->workers[i]);
    end(execution);
    rc = dft_comm_agree(rc);
    if (!rc)
        rc = gather(execution);
    dft_comm_sum((uint64_t *)&execution->stats, sizeof execution->stats / sizeof(uint64_t));
    if (rc || execution->spilled)
        dft_partial_fini(&execution->total);
    return rc;
}

int dft_count(struct dft_execution *execution)
{
    int names_tried = 0;

    for (;;) {
        int rc = pass(execution);

        if (rc == DFT_NOT_EXACT)
            execution->rows_only = 0;
        else if (rc || !execution->stats.unknown || names_tried)
            return rc;
        if (!rc) {
            names_tried = 1;
            rc = dft_source_names_locate(execution->source);
            if (rc)
                return rc;
        }
        dft_partial_fini(&execution->total);
        dft_spill_clear(execution);
    }
}
