/* SPDX-License-Identifier: MIT */
/* Rows into groups: call rows, or, where events are not kept and files are requested, file
 * rows. */
#include "query/count_rows.h"

#include <errno.h>
#include <string.h>

#include "aggregator/histogram.h"
#include "query/busy_time.h"
#include "query/spill.h"
#include "query/execution.h"
#include "query/group_keys.h"
#include "query/group_map.h"
#include "query/group_patterns.h"
#include "query/partial.h"
#include "query/query_types.h"
#include "object/object.h"

#define ROWS_UNCHECKED 64u /* rows between two looks at how much memory groups take */

/* A row's time, as far as a row can say it: its interval [start, start + width). */
struct row_time {
    uint64_t start, width;
};

static struct row_time time_of(const struct dft_row *row, uint64_t interval_ns)
{
    uint64_t width = row->kind == DFT_ROW_CALL ? interval_ns : interval_ns * DFT_COARSE;

    return (struct row_time){row->interval * width, width};
}

/* Does the query cut the row's interval in two? */
static int is_cut(const struct dft_execution *execution, const struct row_time *time)
{
    const struct dft_filter *filter = execution->filter;
    uint64_t end = time->start + time->width;

    if (filter->from_ns > time->start && filter->from_ns < end)
        return 1;
    if (filter->to_ns > time->start && filter->to_ns < end)
        return 1;
    if (!DFT_HAS(execution, DFT_BY_TIME))
        return 0;
    return time->start < execution->query.base_ns ||
           dft_slot_of(execution, time->start) != dft_slot_of(execution, end - 1);
}

/* Rounded outward: a row counts when any of its interval does. */
static int in_time(const struct dft_filter *filter, const struct row_time *time)
{
    return time->start + time->width > filter->from_ns && (time->start < filter->to_ns || filter->to_ns == UINT64_MAX);
}

static void key_of(const struct dft_execution *execution, const struct dft_block *block, const struct dft_row *row,
                   const struct row_time *time, struct dft_group_key *key)
{
    memset(key, 0, sizeof *key);
    key->process_group = execution->process_group_of[block->process];
    if (DFT_HAS(execution, DFT_BY_TID))
        key->tid = block->tid;
    if (DFT_HAS(execution, DFT_BY_TIME))
        key->time = dft_slot_of(execution, time->start);
    if (DFT_HAS(execution, DFT_BY_REGION))
        key->region = row->region;
    if (DFT_HAS(execution, DFT_BY_CAT) || DFT_HAS(execution, DFT_BY_NAME))
        key->call = row->subject;
    if (DFT_HAS(execution, DFT_BY_OP))
        key->op = row->op;
    if (DFT_HAS(execution, DFT_BY_CLASS))
        key->class = row->io;
    key->facets = dft_row_facets(execution, row);
}

/* Which kind of rows answers for this block: call rows, file rows, or none (-1). */
static int kind_for(const struct dft_execution *execution)
{
    const struct dft_filter *filter = execution->filter;
    int calls = DFT_HAS(execution, DFT_BY_CAT) || DFT_HAS(execution, DFT_BY_NAME) || DFT_HAS(execution, DFT_BY_OP) ||
                execution->facets || execution->query.ops || dft_filter_has_calls(filter) ||
                dft_filter_has_facets(filter) || dft_filter_has(filter, DFT_FILTER_OP);

    if (DFT_HAS_STACKS(execution))
        return -1;
    if (!DFT_HAS_FILES(execution) && !dft_filter_has_files(filter))
        return DFT_ROW_CALL;
    return calls ? -1 : DFT_ROW_FILE;
}

static int add(const struct dft_execution *execution, struct dft_worker *worker, const struct dft_block *block,
               struct dft_row *row, uint32_t group)
{
    if (execution->query.members && dft_members_add_row(&worker->partial.members, group, block->process, row))
        return -ENOMEM;
    worker->stats.placed_rows += row->kind == DFT_ROW_CALL ? row->metrics.count : 0;
    row->metrics.strided = row->access == DFT_ACCESS_STRIDED ? row->metrics.data : 0;
    row->metrics.random = row->access == DFT_ACCESS_RANDOM ? row->metrics.data : 0;
    row->interval = 0;
    row->region = 0;
    row->subject = DFT_SUBJECT(group);
    return dft_table_merge(worker->partial.table, row);
}

/* The pattern of a row of a file, before add() makes another row of it. */
static int add_pattern(const struct dft_execution *execution, struct dft_worker *worker, const struct dft_block *block,
                       const struct dft_row *row, uint32_t group, int is_folded)
{
    const struct dft_metrics *m = &row->metrics;
    int lacks =
        !row->pattern && m->bytes && (block->stream & DFT_STREAM_COUNTED || (m->offset_max >= 0 && m->size_min));

    return execution->want_patterns ? dft_add_row_pattern(worker, row, group, !lacks && !is_folded) : 0;
}

static int is_timed(const struct dft_execution *execution)
{
    return execution->filter->from_ns || execution->filter->to_ns != UINT64_MAX;
}

static int merge(struct dft_execution *execution, struct dft_worker *worker, const struct dft_block *block,
                 struct dft_row *row, const struct row_time *time)
{
    uint64_t interval = DFT_HAS(execution, DFT_BY_TIME) ? dft_slot_of(execution, time->start) : 0;
    uint32_t facets = dft_row_facets(execution, row);
    struct dft_row_memo *memo = &worker->rows[(row->region * 31 + row->subject + facets) % DFT_ROW_MEMO];
    struct dft_group_key key;
    uint32_t number;
    int rc, is_file = row->kind == DFT_ROW_FILE, is_folded = 0;
    int spreads = execution->want_busy && row->kind != DFT_ROW_HISTOGRAM && (row->metrics.step || is_timed(execution));

    if (!is_file && !spreads && memo->block == worker->block && memo->region == row->region &&
        memo->subject == row->subject && memo->facets == facets && memo->op == row->op && memo->io == row->io &&
        memo->time == interval)
        return add(execution, worker, block, row, memo->number);
    key_of(execution, block, row, time, &key);
    if (row->kind == DFT_ROW_FILE) {
        struct dft_event event = {.file = row->subject, .region = row->region, .start_ns = time->start};
        struct dft_group_key with_file;

        if (!dft_event_key(execution, worker, NULL, 0, &event, &(struct dft_call){0}, &with_file))
            return 0;
        key.file = with_file.file;
        is_folded = execution->may_fold && dft_file_facts_is_folded(execution->files, row->subject);
        if (is_folded)
            worker->stats.folded += row->metrics.count;
        row->kind = DFT_ROW_CALL; /* the table's group is a call, whatever it was */
    }
    if (spreads) {
        rc = dft_spread_row(execution, worker, &key, row, time->start);
        if (rc)
            return rc;
    }
    rc = dft_group_map_get(&worker->partial.map, &key, &number);
    if (rc)
        return rc;
    if (is_file)
        rc = add_pattern(execution, worker, block, row, number, is_folded);
    else
        *memo =
            (struct dft_row_memo){row->region, row->subject, interval, number, worker->block, facets, row->op, row->io};
    return rc ? rc : add(execution, worker, block, row, number);
}

/* Does a row pass the filter, but for durations and files? Rows of files know no more than their
 * class. */
static int row_passes(struct dft_execution *execution, struct dft_worker *worker, const struct dft_row *row)
{
    const struct dft_filter *filter = execution->filter;
    const struct dft_call call = {.id = row->subject, .op = row->op, .io = row->io};

    if (!dft_region_passes(execution, worker, row->region))
        return 0;
    if (row->kind == DFT_ROW_FILE)
        return (!execution->query.classes || execution->query.classes >> row->io & 1) &&
               dft_filter_class(filter, row->io);
    return (!dft_filter_has_facets(filter) || dft_filter_facets(filter, dft_all_row_facets(row))) &&
           dft_call_passes(execution, worker, &call);
}

/* Drops the bins of a histogram below --slower-than. Returns 0 when the limit cuts a bin in two. */
static int cut_histogram(const struct dft_filter *filter, struct dft_row *row)
{
    uint64_t least = (uint64_t)filter->values[DFT_FILTER_SLOWER].ns;
    uint32_t first = dft_bin_of(least + 1);
    int is_complete = 1;

    while (row->ndurations && row->durations->bin < first) {
        row->durations++;
        row->ndurations--;
        is_complete = 0;
    }
    if (!is_complete)
        row->nsizes = row->nasked = 0;
    return dft_bin_of(least) < first || !row->ndurations || row->durations->bin > first;
}

/* Which calls of a row pass --slower-than? */
static enum dft_filter_decision decide(const struct dft_execution *execution, const struct dft_row *row)
{
    struct dft_row cut;

    if (!dft_filter_has(execution->filter, DFT_FILTER_SLOWER))
        return DFT_PASSES;
    if (row->kind == DFT_ROW_HISTOGRAM) {
        cut = *row;
        return cut_histogram(execution->filter, &cut) ? DFT_PASSES : DFT_PASSES_SOME;
    }
    return dft_filter_durations(execution->filter, &row->metrics);
}

/* Only some calls of a row pass. */
static int leave_undecided(struct dft_execution *execution, struct dft_worker *worker, const struct dft_row *row,
                           int kind)
{
    if (execution->rows_only)
        return DFT_NOT_EXACT;
    if (row->kind == DFT_ROW_HISTOGRAM)
        worker->stats.coarse = 1;
    else if (row->kind == kind)
        worker->stats.undecided += row->metrics.count;
    worker->stats.busy_unknown |= execution->want_busy;
    return 0;
}

static int count_row(struct dft_execution *execution, struct dft_worker *worker, const struct dft_block *block,
                     const struct dft_row *row, const struct row_time *time, int kind)
{
    int is_call = row->kind == DFT_ROW_CALL, rc;
    enum dft_filter_decision decision;
    struct dft_row own;

    if (is_call && execution->want_self && row->region) {
        rc = dft_add_child(execution, worker, execution->process_group_of[block->process], block->tid, row->region,
                           row->metrics.dur_sum);
        if (rc)
            return rc;
    }
    if (!row_passes(execution, worker, row) || (row->kind == DFT_ROW_HISTOGRAM && !execution->histograms))
        return 0;
    decision = decide(execution, row);
    if (decision != DFT_PASSES)
        return decision == DFT_PASSES_SOME ? leave_undecided(execution, worker, row, kind) : 0;
    if (is_call && !dft_filter_has_files(execution->filter)) {
        worker->stats.events += row->metrics.count;
        if (block->use & DFT_IN_BOTH)
            worker->stats.events_kept += row->metrics.count;
    }
    if (is_call && kind == DFT_ROW_FILE && (row->op == DFT_OP_RENAME || row->op == DFT_OP_LINK) &&
        dft_filter_has_files(execution->filter))
        worker->stats.second_hidden += row->metrics.count;
    if (is_call && kind < 0)
        worker->stats.unsplit += row->metrics.count;
    if (row->kind == DFT_ROW_FILE && dft_filter_has_files(execution->filter) &&
        dft_event_file_passes(execution, worker, &(struct dft_event){.file = row->subject}))
        worker->stats.events += row->metrics.count;
    if (kind < 0)
        return 0;
    if (row->kind != kind && !(row->kind == DFT_ROW_HISTOGRAM && kind == DFT_ROW_CALL))
        return 0;
    own = *row; /* the next query wants the row as it is */
    if (row->kind == DFT_ROW_HISTOGRAM && dft_filter_has(execution->filter, DFT_FILTER_SLOWER))
        cut_histogram(execution->filter, &own);
    return merge(execution, worker, block, &own, time);
}

/* --- even shares ------------------------------------------------------------------------------ */

/* Into how many intervals of the query a row is shared out: those that another tracer counted
 * say nothing of the time within their period, which the query cuts into equal parts. 1: it is
 * not. */
static uint64_t shares_of(const struct dft_execution *execution, const struct dft_block *block,
                          const struct dft_row *row, const struct row_time *time)
{
    uint64_t width = execution->query.width_ns;

    if (!(block->stream & DFT_STREAM_COUNTED) || !DFT_HAS(execution, DFT_BY_TIME) || row->kind != DFT_ROW_CALL ||
        time->width <= width || time->width % width)
        return 1;
    return time->width / width;
}

static uint64_t part_of(uint64_t sum, uint64_t all, uint64_t from, uint64_t to)
{
    return all ? (uint64_t)((__uint128_t)sum * to / all - (__uint128_t)sum * from / all) : 0;
}

/* The share of the calls from number `from` to before `to`: of each call its part of all that they
 * did. */
static void share_row(struct dft_row *row, uint64_t from, uint64_t to)
{
    struct dft_metrics *m = &row->metrics;
    const uint64_t all = m->count;
    uint64_t *const sums[] = {&m->samples, &m->errors, &m->dur_sum,    &m->edge,
                              &m->data,    &m->bytes,  &m->sequential, &m->consecutive};

    m->count = to - from;
    m->first_start = UINT64_MAX; /* within the period nobody knows */
    m->last_end = 0;
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        *sums[i] = part_of(*sums[i], all, from, to);
}

/* The shares that have a call, each in its interval. */
static int count_shares(struct dft_execution *execution, struct dft_worker *worker, const struct dft_block *block,
                        const struct dft_row *row, const struct row_time *whole, uint64_t shares, int kind)
{
    const uint64_t all = row->metrics.count, width = whole->width / shares;
    int rc = 0;

    worker->stats.shared = 1;
    for (uint64_t from = 0, to; from < all && !rc; from = to) {
        uint64_t k = (uint64_t)(((__uint128_t)(from + 1) * shares + all - 1) / all) - 1;
        struct row_time time = {whole->start + k * width, width};
        struct dft_row part = *row;

        to = (uint64_t)((__uint128_t)all * (k + 1) / shares);
        share_row(&part, from, to);
        if (in_time(execution->filter, &time))
            rc = count_row(execution, worker, block, &part, &time, kind);
    }
    return rc;
}

/* The kinds of rows that say something to the query: a mask. */
static unsigned kinds_for(const struct dft_execution *execution, int kind)
{
    unsigned kinds = 1u << DFT_ROW_CALL;

    if (dft_filter_has(execution->filter, DFT_FILTER_SLOWER))
        return 1u << DFT_ROW_CALL | 1u << DFT_ROW_HISTOGRAM | 1u << DFT_ROW_FILE;
    if (execution->query.percentiles)
        kinds |= 1u << DFT_ROW_HISTOGRAM;
    if (kind == DFT_ROW_FILE || dft_filter_has_files(execution->filter))
        kinds |= 1u << DFT_ROW_FILE;
    return kinds;
}

int dft_count_rows(struct dft_execution *execution, struct dft_worker *worker, const struct dft_source_process *process,
                   const struct dft_block *block, const struct dft_buckets *buckets)
{
    int kind = kind_for(execution), rc = 0;
    uint32_t counted = 0;
    unsigned kinds = kinds_for(execution, kind);
    uint64_t last, last_coarse; /* of their intervals, those that end within 64 bits */

    (void)process;
    if (!buckets->interval_ns || buckets->interval_ns > DFT_INTERVAL_NS_MAX)
        return 0;
    last = UINT64_MAX / buckets->interval_ns - 1;
    last_coarse = UINT64_MAX / (buckets->interval_ns * DFT_COARSE) - 1;
    worker->block++;
    if (kind == DFT_ROW_FILE)
        worker->stats.file_rows = 1;
    for (uint32_t i = 0; !rc && i < buckets->count; i++) {
        const struct dft_row *row = &buckets->rows[i];
        struct row_time time = time_of(row, buckets->interval_ns);
        uint64_t shares = 1;

        if (row->kind > DFT_ROW_FILE || !(kinds >> row->kind & 1) ||
            row->interval > (row->kind == DFT_ROW_CALL ? last : last_coarse))
            continue;
        if (!in_time(execution->filter, &time))
            continue;
        if ((row->kind == kind || (row->kind == DFT_ROW_HISTOGRAM && execution->query.percentiles)) &&
            is_cut(execution, &time)) {
            if (row->kind == DFT_ROW_HISTOGRAM && block->stream & DFT_STREAM_COUNTED)
                continue; /* no events know more: percentiles are not known then */
            shares = shares_of(execution, block, row, &time);
            if (shares == 1 && execution->rows_only)
                return DFT_NOT_EXACT;
            if (row->kind == DFT_ROW_HISTOGRAM) {
                worker->stats.coarse = 1;
                continue;
            }
            worker->stats.inexact |= shares == 1;
        }
        rc = shares == 1 ? count_row(execution, worker, block, row, &time, kind)
                         : count_shares(execution, worker, block, row, &time, shares, kind);
        if (rc == -EINVAL) /* bins that no value has: the row says nothing */
            rc = 0;
        if (!rc && ++counted % ROWS_UNCHECKED == 0)
            rc = dft_merge_partial(execution, worker);
    }
    return rc ? rc : dft_merge_partial(execution, worker);
}
