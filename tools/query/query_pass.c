/* SPDX-License-Identifier: MIT */
/* A pass over the blocks: each thread counts into a tally of its own and hands it over to the common one when it has
 * grown; what does not fit into memory goes into the spill file (query_spill.c). At last rank 0 has the sum. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "source/source_visit.h"
#include "source/source_names.h"
#include "query/query_inside.h"

/* --- from the threads to the whole --------------------------------------------------------------------------------- */

int dft_check_budget(struct dft_asking *asking)
{
    if (asking->when_full == DFT_FULL_STAYS || dft_tally_used(&asking->total) <= asking->budget)
        return 0;
    return asking->when_full == DFT_FULL_SPILLS ? dft_spill_total(asking) : DFT_TOO_MANY;
}

static int hand_over_all(struct dft_asking *asking, struct dft_counting *counting)
{
    int rc;

    pthread_mutex_lock(&asking->lock);
    rc = dft_tally_merge(&asking->total, &counting->tally);
    if (!rc)
        rc = dft_check_budget(asking);
    pthread_mutex_unlock(&asking->lock);
    dft_tally_clear(&counting->tally);
    counting->block++; /* numbers of groups that were remembered mean nothing any more */
    return rc;
}

int dft_merge_partial(struct dft_asking *asking, struct dft_counting *counting)
{
    return dft_tally_used(&counting->tally) > asking->share ? hand_over_all(asking, counting) : 0;
}

static int pack(void *context, void **bytes, size_t *length)
{
    struct dft_asking *asking = context;

    return dft_tally_pack(&asking->total, bytes, length);
}

static int unpack(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct dft_asking *asking = context;
    int rc = dft_tally_unpack(&asking->total, bytes, length);

    (void)rank;
    return rc ? rc : dft_check_budget(asking);
}

int dft_reduce_total(struct dft_asking *asking)
{
    return dft_comm_reduce(pack, unpack, asking);
}

static void add_met(struct dft_met *into, const struct dft_met *from)
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

/* --- a pass -------------------------------------------------------------------------------------------------------- */

static int count_events(void *context, unsigned worker, const struct dft_source_process *process,
                        const struct dft_block *block, struct dft_batch *batch)
{
    struct dft_asking *asking = context;

    return dft_count_events(asking, &asking->workers[worker], process, block, batch);
}

static int count_buckets(void *context, unsigned worker, const struct dft_source_process *process,
                         const struct dft_block *block, struct dft_buckets *buckets)
{
    struct dft_asking *asking = context;

    return dft_count_rows(asking, &asking->workers[worker], process, block, buckets);
}

static int is_asked(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    struct dft_asking *asking = context;

    return block->use & (asking->rows_only ? DFT_IN_ROWS : DFT_IN_EVENTS) && block->count &&
           dft_filter_block(asking->filter, process, block);
}

static int begin(struct dft_asking *asking)
{
    int histograms = asking->histograms;
    int rc = dft_tally_init(&asking->total, histograms);

    memset(&asking->met, 0, sizeof asking->met);
    for (unsigned i = 0; !rc && i < asking->nworkers; i++) {
        struct dft_counting *counting = &asking->workers[i];

        rc = dft_tally_init(&counting->tally, histograms);
        counting->memo = calloc(DFT_MEMO, sizeof *counting->memo);
        if (!counting->memo)
            rc = -ENOMEM;
    }
    return rc;
}

/* The threads' memory goes. */
static void end(struct dft_asking *asking)
{
    for (unsigned i = 0; i < asking->nworkers; i++) {
        struct dft_counting *counting = &asking->workers[i];

        add_met(&asking->met, &counting->met);
        memset(&counting->met, 0, sizeof counting->met);
        dft_tally_fini(&counting->tally);
        free(counting->memo);
        dft_placing_fini(&counting->placing);
        counting->memo = NULL;
        memset(counting->rows, 0, sizeof counting->rows);
    }
}

/* What all ranks have counted, on rank 0, or in the spill files. Collective. */
static int gather(struct dft_asking *asking)
{
    int spilled = dft_comm_agree(asking->partitions.count != 0), rc = 0;

    if (!spilled) {
        rc = dft_reduce_total(asking);
        spilled = rc ? 0 : dft_comm_agree(asking->partitions.count != 0);
    }
    if (!rc && spilled)
        rc = dft_spill_end(asking);
    asking->spilled = spilled;
    return rc;
}

static int pass(struct dft_asking *asking)
{
    struct dft_visit visit = {.context = asking,
                              .select = is_asked,
                              .events = count_events,
                              .buckets = count_buckets,
                              .progress = "blocks counted"};
    int rc = dft_comm_agree(begin(asking));

    asking->when_full = asking->in_memory ? DFT_FULL_ENDS : DFT_FULL_SPILLS;
    if (!rc)
        rc = asking->together ? dft_count_together(asking, &asking->workers[0])
                              : dft_source_visit(asking->source, &visit);
    for (unsigned i = 0; !rc && i < asking->nworkers; i++)
        rc = hand_over_all(asking, &asking->workers[i]);
    end(asking);
    rc = dft_comm_agree(rc);
    if (!rc)
        rc = gather(asking);
    dft_comm_sum((uint64_t *)&asking->met, sizeof asking->met / sizeof(uint64_t));
    if (rc || asking->spilled)
        dft_tally_fini(&asking->total);
    return rc;
}

int dft_count(struct dft_asking *asking)
{
    int names_tried = 0;

    for (;;) {
        int rc = pass(asking);

        if (rc == DFT_NOT_EXACT)
            asking->rows_only = 0;
        else if (rc || !asking->met.unknown || names_tried)
            return rc;
        if (!rc) {
            names_tried = 1;
            rc = dft_source_names_locate(asking->source);
            if (rc)
                return rc;
        }
        dft_tally_fini(&asking->total);
        dft_spill_clear(asking);
    }
}

int dft_next_groups(struct dft_asking *asking)
{
    if (asking->spilled)
        return dft_next_batch(asking);
    asking->given++;
    return asking->given == 1;
}
