/* SPDX-License-Identifier: MIT */
/* Rows into groups: call rows, or, where events are not kept and files are asked about, file rows. */
#include "query/query_inside.h"

#include <errno.h>
#include <string.h>

/* A row's time, as far as a row can say it: its interval [start, start + width). */
struct row_time {
    uint64_t start, width;
};

static struct row_time time_of(const struct dft_row *row, uint64_t interval_ns)
{
    uint64_t width = row->kind == DFT_ROW_CALL ? interval_ns : interval_ns * DFT_COARSE;

    return (struct row_time){row->interval * width, width};
}

/* Does the question cut the row's interval in two? */
static int is_cut(const struct dft_asking *asking, const struct row_time *time)
{
    const struct dft_filter *filter = asking->filter;
    uint64_t end = time->start + time->width;

    if (filter->from_ns > time->start && filter->from_ns < end)
        return 1;
    if (filter->to_ns > time->start && filter->to_ns < end)
        return 1;
    if (!DFT_HAS(asking, DFT_BY_TIME))
        return 0;
    return time->start < asking->query.base_ns || dft_slot_of(asking, time->start) != dft_slot_of(asking, end - 1);
}

/* Rounded outward: a row counts when any of its interval does. */
static int in_time(const struct dft_filter *filter, const struct row_time *time)
{
    return time->start + time->width > filter->from_ns && (time->start < filter->to_ns || filter->to_ns == UINT64_MAX);
}

static void key_of(const struct dft_asking *asking, const struct dft_block *block, const struct dft_row *row,
                   const struct row_time *time, struct dft_group_key *key)
{
    memset(key, 0, sizeof *key);
    key->who = asking->who_of[block->process];
    if (DFT_HAS(asking, DFT_BY_TID))
        key->tid = block->tid;
    if (DFT_HAS(asking, DFT_BY_TIME))
        key->time = dft_slot_of(asking, time->start);
    if (DFT_HAS(asking, DFT_BY_REGION))
        key->region = row->region;
    if (DFT_HAS(asking, DFT_BY_CAT) || DFT_HAS(asking, DFT_BY_NAME))
        key->call = row->subject;
    if (DFT_HAS(asking, DFT_BY_OP))
        key->op = row->op;
    if (DFT_HAS(asking, DFT_BY_CLASS))
        key->class = (uint8_t)(1 + (row->kind == DFT_ROW_FILE ? row->class : dft_op_class(row->op)));
}

/* Which kind of rows answers for this block: call rows, file rows, or none (-1). */
static int kind_for(const struct dft_asking *asking)
{
    const struct dft_filter *filter = asking->filter;
    int calls = DFT_HAS(asking, DFT_BY_CAT) || DFT_HAS(asking, DFT_BY_NAME) || DFT_HAS(asking, DFT_BY_OP) ||
                asking->query.ops || filter->ncats || filter->nnames;

    if (DFT_HAS_STACKS(asking))
        return -1;
    if (!DFT_HAS_FILES(asking) && !filter->nfiles)
        return DFT_ROW_CALL;
    return calls ? -1 : DFT_ROW_FILE;
}

static int add(struct dft_counting *counting, struct dft_row *row, uint32_t group)
{
    row->interval = 0;
    row->region = 0;
    row->subject = DFT_SUBJECT(group);
    return dft_table_merge(counting->tally.table, row);
}

static int is_timed(const struct dft_asking *asking)
{
    return asking->filter->from_ns || asking->filter->to_ns != UINT64_MAX;
}

static int merge(struct dft_asking *asking, struct dft_counting *counting, const struct dft_block *block,
                 struct dft_row *row, const struct row_time *time)
{
    uint64_t interval = DFT_HAS(asking, DFT_BY_TIME) ? dft_slot_of(asking, time->start) : 0;
    struct dft_row_memo *memo = &counting->rows[(row->region * 31 + row->subject) % DFT_ROW_MEMO];
    struct dft_group_key key;
    uint32_t number;
    int rc, is_file = row->kind == DFT_ROW_FILE;
    int spreads = asking->want_busy && row->kind != DFT_ROW_HISTOGRAM && (row->metrics.step || is_timed(asking));

    if (!is_file && !spreads && memo->block == counting->block && memo->region == row->region &&
        memo->subject == row->subject && memo->op == row->op && memo->time == interval)
        return add(counting, row, memo->number);
    key_of(asking, block, row, time, &key);
    if (row->kind == DFT_ROW_FILE) {
        struct dft_event event = {.file = row->subject, .region = row->region, .start_ns = time->start};
        struct dft_group_key with_file;

        if (!dft_event_key(asking, counting, NULL, 0, &event, 0, 0, &with_file))
            return 0;
        key.file = with_file.file;
        row->kind = DFT_ROW_CALL; /* the table's group is a call, whatever it was */
    }
    if (spreads) {
        rc = dft_spread_row(asking, counting, &key, row, time->start);
        if (rc)
            return rc;
    }
    rc = dft_group_map_get(&counting->tally.map, &key, &number);
    if (rc)
        return rc;
    if (!is_file)
        *memo = (struct dft_row_memo){row->region, row->subject, interval, number, counting->block, row->op};
    return add(counting, row, number);
}

static int count_row(struct dft_asking *asking, struct dft_counting *counting, const struct dft_block *block,
                     struct dft_row *row, const struct row_time *time, int kind)
{
    int is_call = row->kind == DFT_ROW_CALL, rc;

    if (is_call && asking->want_self && row->region) {
        rc = dft_add_child(asking, counting, asking->who_of[block->process], block->tid, row->region,
                           row->metrics.dur_sum);
        if (rc)
            return rc;
    }
    if (row->kind != DFT_ROW_FILE && !dft_call_passes(asking, counting, row->subject, row->op))
        return 0;
    if (is_call && !asking->filter->nfiles) {
        counting->met.events += row->metrics.count;
        if (block->use & DFT_IN_BOTH)
            counting->met.events_kept += row->metrics.count;
    }
    if (is_call && kind < 0)
        counting->met.unsplit += row->metrics.count;
    if (row->kind == DFT_ROW_FILE && asking->filter->nfiles &&
        dft_event_file_passes(asking, counting, &(struct dft_event){.file = row->subject}))
        counting->met.events += row->metrics.count;
    if (kind < 0)
        return 0;
    if (row->kind != kind && !(row->kind == DFT_ROW_HISTOGRAM && kind == DFT_ROW_CALL))
        return 0;
    if (row->kind == DFT_ROW_HISTOGRAM && !asking->histograms)
        return 0;
    return merge(asking, counting, block, row, time);
}

/* --- even shares -------------------------------------------------------------------------------------------------- */

/* Into how many intervals of the question a row is shared out: those that another tracer counted
 * say nothing of the time within their period, which the question cuts into equal parts. 1: it is
 * not. */
static uint64_t shares_of(const struct dft_asking *asking, const struct dft_block *block, const struct dft_row *row,
                          const struct row_time *time)
{
    uint64_t width = asking->query.width_ns;

    if (!(block->stream & DFT_STREAM_COUNTED) || !DFT_HAS(asking, DFT_BY_TIME) || row->kind != DFT_ROW_CALL ||
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
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        *sums[i] = part_of(*sums[i], all, from, to);
}

/* The shares that have a call, each in its interval. */
static int count_shares(struct dft_asking *asking, struct dft_counting *counting, const struct dft_block *block,
                        const struct dft_row *row, const struct row_time *whole, uint64_t shares, int kind)
{
    const uint64_t all = row->metrics.count, width = whole->width / shares;
    int rc = 0;

    counting->met.shared = 1;
    for (uint64_t from = 0, to; from < all && !rc; from = to) {
        uint64_t k = (uint64_t)(((__uint128_t)(from + 1) * shares + all - 1) / all) - 1;
        struct row_time time = {whole->start + k * width, width};
        struct dft_row part = *row;

        to = (uint64_t)((__uint128_t)all * (k + 1) / shares);
        share_row(&part, from, to);
        if (in_time(asking->filter, &time))
            rc = count_row(asking, counting, block, &part, &time, kind);
    }
    return rc;
}

int dft_count_rows(struct dft_asking *asking, struct dft_counting *counting, const struct dft_source_process *process,
                   const struct dft_block *block, struct dft_buckets *buckets)
{
    int kind = kind_for(asking), rc = 0;

    (void)process;
    if (!buckets->interval_ns || buckets->interval_ns > DFT_INTERVAL_NS_MAX)
        return 0;
    counting->block++;
    if (kind == DFT_ROW_FILE)
        counting->met.file_rows = 1;
    for (uint32_t i = 0; !rc && i < buckets->count; i++) {
        struct dft_row *row = &buckets->rows[i];
        struct row_time time = time_of(row, buckets->interval_ns);
        uint64_t shares = 1;

        if (row->kind > DFT_ROW_FILE || row->interval > UINT64_MAX / time.width - 1)
            continue;
        if (!in_time(asking->filter, &time))
            continue;
        if ((row->kind == kind || (row->kind == DFT_ROW_HISTOGRAM && asking->query.percentiles)) &&
            is_cut(asking, &time)) {
            if (row->kind == DFT_ROW_HISTOGRAM && block->stream & DFT_STREAM_COUNTED)
                continue; /* no events know more: percentiles are not known then */
            shares = shares_of(asking, block, row, &time);
            if (shares == 1 && asking->rows_only)
                return DFT_NOT_EXACT;
            if (row->kind == DFT_ROW_HISTOGRAM) {
                counting->met.coarse = 1;
                continue;
            }
            counting->met.inexact |= shares == 1;
        }
        rc = shares == 1 ? count_row(asking, counting, block, row, &time, kind)
                         : count_shares(asking, counting, block, row, &time, shares, kind);
        if (rc == -EINVAL) /* bins that no value has: the row says nothing */
            rc = 0;
        if (!rc)
            rc = dft_merge_partial(asking, counting);
    }
    return rc;
}
