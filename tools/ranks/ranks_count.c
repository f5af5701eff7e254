/* SPDX-License-Identifier: MIT */
/* dftmerge ranks: blocks are visited twice, first for totals, then for time over time and what is
 * usual. Where the sums that what is usual is learnt from do not fit, the second visit is of some
 * ranks at a time, and a third one sums up again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/aggregate.h"
#include "format/event.h"
#include "ranks/ranks_calls.h"
#include "ranks/ranks_filter.h"
#include "ranks/ranks_job.h"
#include "ranks/ranks_piece.h"
#include "ranks/ranks_share.h"
#include "ranks/ranks_sums.h"
#include "ranks/ranks_total.h"
#include "intake/source_visit.h"

#define FEW_INTERVALS  32u               /* with fewer of them in the job, events tell more than rows */
#define INTERVAL_EVENT UINT64_C(1000000) /* of events: 1 ms */
#define BUCKET_CALLS   8u                /* of a rank, in a bucket */

enum visit { VISIT_TOTALS, VISIT_TIMES, VISIT_SUMS };

struct counting {
    struct dft_ranks_job *job;
    uint64_t widest[64];     /* interval of rows, by worker */
    struct dft_map followed; /* call -> position in job->calls + 1 */
    enum visit visit;
};

/* --- over time -------------------------------------------------------------------------------- */

/* From `time` on, `step` more calls are busy all the time. */
static void add_step(const struct dft_ranks_job *job, struct dft_rank_cell *cells, int kind, uint64_t time,
                     int64_t step)
{
    uint32_t b = dft_rank_bucket(job, time);
    uint64_t end = job->origin_ns + (b + UINT64_C(1)) * job->bucket_ns;

    if (time < job->origin_ns)
        time = job->origin_ns;
    if (time < end)
        cells[b].part_ns[kind] += (int64_t)((uint64_t)step * (end - time));
    if (b + 1 < job->nbuckets)
        cells[b + 1].slope[kind] += step;
}

static void add_busy(const struct dft_ranks_job *job, struct dft_rank_cell *cells, int kind,
                     const struct dft_piece *piece)
{
    uint32_t b = dft_rank_bucket(job, piece->middle_ns);

    if (!piece->end_ns) {
        cells[b].part_ns[kind] += (int64_t)piece->edge_ns;
        if (piece->step)
            add_step(job, cells, kind, piece->start_ns, piece->step);
    } else if (dft_rank_bucket(job, piece->end_ns) == b) {
        cells[b].part_ns[kind] += (int64_t)piece->ns;
    } else {
        add_step(job, cells, kind, piece->start_ns, 1);
        add_step(job, cells, kind, piece->end_ns, -1);
    }
}

static void add_followed(struct counting *counting, uint32_t rank, const struct dft_piece *piece)
{
    struct dft_ranks_job *job = counting->job;
    const uint64_t *place = dft_map_find(&counting->followed, piece->call);
    uint32_t number, b = dft_rank_bucket(job, piece->middle_ns);
    const struct dft_job_call *call;

    if (!place)
        return;
    number = (uint32_t)*place - 1;
    call = &job->calls[number];
    __atomic_fetch_add(&job->call_ns[(size_t)number * job->nbuckets + b], piece->ns, __ATOMIC_RELAXED);
    for (uint32_t s = 0; s < call->nslowest; s++)
        if (call->slowest[s] == rank)
            job->slow_ns[((size_t)number * DFT_RANKS_SLOWEST + s) * job->nbuckets + b] += piece->ns;
}

static void add_over_time(struct counting *counting, uint32_t rank, const struct dft_piece *piece)
{
    struct dft_ranks_job *job = counting->job;
    struct dft_rank_cell *cells = dft_rank_cells(job, rank);
    uint32_t b = dft_rank_bucket(job, piece->middle_ns);
    int kind = dft_lost_of(piece->op);

    if (kind >= 0)
        dft_sums_add(job, rank, b, piece);
    if (counting->visit == VISIT_SUMS)
        return;
    add_followed(counting, rank, piece);
    if (kind < 0)
        return;
    add_busy(job, cells, kind, piece);
    cells[b].bytes += piece->bytes;
}

/* --- visits ----------------------------------------------------------------------------------- */

static int add(struct counting *counting, uint32_t rank, const struct dft_piece *piece)
{
    if (counting->visit == VISIT_TOTALS)
        return dft_rank_total(counting->job, &counting->job->ranks[rank], piece);
    add_over_time(counting, rank, piece);
    return 0;
}

static int take_events(void *context, unsigned worker, const struct dft_source_process *process,
                       const struct dft_block *block, struct dft_batch *batch)
{
    struct counting *counting = context;
    struct dft_ranks_job *job = counting->job;
    uint32_t rank = job->rank_of[process->number] - 1;
    struct dft_piece piece;
    int rc = 0;

    (void)block;
    pthread_mutex_lock(&job->locks[rank % DFT_RANKS_LOCKS]);
    for (uint32_t i = 0; !rc && i < batch->count; i++) {
        const struct dft_event *event = &batch->events[i];
        int64_t shift = dft_clocks_shift(&job->clocks, process->number, event->start_ns);

        if (dft_piece_of_event(&piece, batch, event, shift) &&
            dft_ranks_passes_event(job, worker, event, &batch->calls[event->call], shift))
            rc = add(counting, rank, &piece);
    }
    pthread_mutex_unlock(&job->locks[rank % DFT_RANKS_LOCKS]);
    return rc;
}

static int take_rows(void *context, unsigned worker, const struct dft_source_process *process,
                     const struct dft_block *block, struct dft_buckets *buckets)
{
    struct counting *counting = context;
    struct dft_ranks_job *job = counting->job;
    uint32_t rank = job->rank_of[process->number] - 1;
    struct dft_piece piece;
    int rc = 0;

    (void)block;
    if (buckets->interval_ns > counting->widest[worker] && buckets->interval_ns <= DFT_INTERVAL_NS_MAX)
        counting->widest[worker] = buckets->interval_ns;
    pthread_mutex_lock(&job->locks[rank % DFT_RANKS_LOCKS]);
    for (uint32_t i = 0; !rc && i < buckets->count; i++) {
        const struct dft_row *row = &buckets->rows[i];
        int64_t shift = dft_clocks_shift(&job->clocks, process->number, row->interval * buckets->interval_ns);

        if (dft_piece_of_row(&piece, buckets, row, shift) &&
            dft_ranks_passes_row(job, worker, row, buckets->interval_ns, shift))
            rc = add(counting, rank, &piece);
    }
    pthread_mutex_unlock(&job->locks[rank % DFT_RANKS_LOCKS]);
    return rc;
}

static int is_asked(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    const struct counting *counting = context;
    const struct dft_ranks_job *job = counting->job;
    uint32_t rank = job->rank_of[process->number] - 1; /* without one it is none of them */

    return rank < job->nranks && (counting->visit == VISIT_TOTALS || (rank >= job->sums_from && rank < job->sums_to)) &&
           block->count && dft_ranks_passes_block(job, block) &&
           (block->use & (job->from_rows ? DFT_IN_ROWS : DFT_IN_EVENTS));
}

static int visit(struct counting *counting)
{
    struct dft_visit visit = {.context = counting,
                              .select = is_asked,
                              .events = take_events,
                              .buckets = take_rows,
                              .progress = counting->visit ? "blocks counted over time" : "blocks counted"};

    return dft_source_visit(counting->job->source, &visit);
}

/* --- between the two -------------------------------------------------------------------------- */

/* How many buckets: so that a rank has several calls in one, as far as that leaves enough of them,
 * and memory. */
static uint64_t most_buckets(struct dft_ranks_job *job)
{
    uint64_t most = DFT_RANKS_CELLS / job->nranks, sums = DFT_RANKS_SUMS / (dft_sums_kinds(job) + 1), calls = 0;

    most = sums < most ? sums : most;
    for (uint32_t c = 0; c < job->ncalls; c++)
        if (dft_lost_of(job->calls[c].op) >= 0)
            calls += job->calls[c].count;
    calls = calls / job->nranks / BUCKET_CALLS;
    calls = calls < FEW_INTERVALS ? FEW_INTERVALS : calls > DFT_RANKS_BUCKETS ? DFT_RANKS_BUCKETS : calls;
    return most < 4 ? 4 : most < calls ? most : calls;
}

/* From the start of the first process to the end of the last. */
static uint64_t wall_of(const struct dft_ranks_job *job)
{
    uint64_t start = UINT64_MAX, end = 0;

    for (uint32_t r = 0; r < job->nranks; r++) {
        start = job->ranks[r].start_ns && job->ranks[r].start_ns < start ? job->ranks[r].start_ns : start;
        end = job->ranks[r].end_ns > end ? job->ranks[r].end_ns : end;
    }
    return end > start ? end - start : 0;
}

/* The grid of buckets, from the first event of all to the last. */
static int make_grid(struct dft_ranks_job *job, uint64_t interval)
{
    uint64_t start = UINT64_MAX, end = 0, most = most_buckets(job), span;

    for (uint32_t r = 0; r < job->nranks; r++) {
        start = job->ranks[r].first_event_ns < start ? job->ranks[r].first_event_ns : start;
        end = job->ranks[r].last_event_ns > end ? job->ranks[r].last_event_ns : end;
    }
    if (start > end)
        start = end = 0;
    job->wall_ns = wall_of(job);
    job->origin_ns = start / interval * interval;
    span = end - job->origin_ns;
    job->bucket_ns = (span / interval / most + 1) * interval;
    job->nbuckets = (uint32_t)(span / job->bucket_ns) + 1;
    job->cells = calloc((size_t)job->nranks * job->nbuckets, sizeof *job->cells);
    return job->cells ? 0 : -ENOMEM;
}

static int follow_calls(struct counting *counting)
{
    struct dft_ranks_job *job = counting->job;
    uint32_t n = job->ncalls < DFT_RANKS_CALLS ? job->ncalls : DFT_RANKS_CALLS;

    for (uint32_t c = 0; c < n; c++) {
        uint64_t *place = dft_map_put(&counting->followed, job->calls[c].call);

        if (!place)
            return -ENOMEM;
        *place = c + 1;
    }
    job->call_ns = calloc((size_t)DFT_RANKS_CALLS * job->nbuckets, sizeof *job->call_ns);
    job->slow_ns = calloc((size_t)DFT_RANKS_CALLS * DFT_RANKS_SLOWEST * job->nbuckets, sizeof *job->slow_ns);
    return job->call_ns && job->slow_ns ? 0 : -ENOMEM;
}

static int between(struct counting *counting)
{
    struct dft_ranks_job *job = counting->job;
    uint64_t widest = job->from_rows ? 0 : INTERVAL_EVENT;
    int rc;

    for (unsigned i = 0; i < dft_source_threads(job->source); i++)
        widest = counting->widest[i] > widest ? counting->widest[i] : widest;
    rc = dft_ranks_share_totals(job, &widest);
    if (!rc)
        rc = dft_ranks_calls(job);
    if (!rc)
        rc = make_grid(job, widest ? widest : INTERVAL_EVENT);
    return rc ? rc : follow_calls(counting);
}

/* Busy times: the sum of steps up to each bucket. */
static void finish_cells(struct dft_ranks_job *job)
{
    for (uint32_t r = 0; r < job->nranks; r++) {
        struct dft_rank_cell *cells = dft_rank_cells(job, r);

        for (int kind = 0; kind < DFT_LOST; kind++) {
            int64_t busy = 0;

            for (uint32_t b = 0; b < job->nbuckets; b++) {
                busy += cells[b].slope[kind];
                cells[b].part_ns[kind] += (int64_t)((uint64_t)busy * job->bucket_ns);
                if (cells[b].part_ns[kind] < 0)
                    cells[b].part_ns[kind] = 0;
            }
        }
    }
}

/* Rows, where there are some, fine enough for the length of the job and for the query. */
static int rows_will_do(const struct dft_ranks_job *job)
{
    uint64_t start, end;

    dft_source_span(job->source, &start, &end);
    return dft_source_used(job->source, DFT_BLOCK_BUCKETS) &&
           (!dft_source_used(job->source, DFT_BLOCK_EVENTS) ||
            (!dft_filter_has_files(job->filter) && !dft_filter_has_times(job->filter) &&
             !dft_filter_has(job->filter, DFT_FILTER_SLOWER) && (end - start) / FEW_INTERVALS >= UINT64_C(1000000000)));
}

/* Rank by rank as their sums fit: `take` them when they are complete. */
static int visit_sums(struct counting *counting, enum visit kind, int (*take)(struct dft_ranks_job *job))
{
    struct dft_ranks_job *job = counting->job;
    int rc = 0;

    counting->visit = kind;
    for (uint32_t from = 0; !rc && from < job->nranks; from = job->sums_to) {
        rc = dft_sums_begin(job, from);
        if (!rc)
            rc = visit(counting);
        if (!rc)
            rc = dft_ranks_share_sums(job);
        if (!rc)
            rc = take(job);
    }
    return rc;
}

static int judge(struct dft_ranks_job *job)
{
    dft_sums_judge(job);
    return 0;
}

static int count_over_time(struct counting *counting)
{
    struct dft_ranks_job *job = counting->job;
    int rc = visit_sums(counting, VISIT_TIMES, dft_sums_learn);

    if (!rc)
        rc = dft_ranks_share_times(job);
    if (rc)
        return rc;
    dft_usual_finish(&job->usual);
    if (job->sums_from)
        rc = visit_sums(counting, VISIT_SUMS, judge);
    else
        dft_sums_judge(job); /* of all ranks: they still stand there */
    if (!rc)
        finish_cells(job);
    return rc;
}

int dft_ranks_count(struct dft_ranks_job *job)
{
    struct counting *counting = calloc(1, sizeof *counting);
    int rc;

    job->from_rows = rows_will_do(job);
    for (unsigned i = 0; i < DFT_RANKS_LOCKS; i++)
        pthread_mutex_init(&job->locks[i], NULL);
    if (!counting)
        return -ENOMEM;
    counting->job = job;
    rc = visit(counting);
    if (!rc)
        rc = between(counting);
    if (!rc)
        rc = count_over_time(counting);
    dft_map_fini(&counting->followed);
    free(job->sums);
    job->sums = NULL;
    free(counting);
    return rc;
}
