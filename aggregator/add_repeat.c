/* SPDX-License-Identifier: MIT */
/* Repeats of events into rows: all that they have in common is added once. */
#include "add_inside.h"

/* The events of a repeat from the i-th on (`event`, behind the first of the repeat) and before
 * `limit` that fall into the same recent row: as add_run of add.c. Their times are in order.
 * Returns where it ends, i when that row is not to be had. */
static uint32_t add_repeat_run(struct dft_table *table, const struct dft_batch *batch, const struct dft_event *event,
                               uint32_t i, uint32_t limit, int is_data)
{
    const struct dft_when *when = batch->when;
    const struct dft_call *call = &batch->calls[event->call];
    const struct dft_recent recent = table->recent[(event->call ^ (uint32_t)event->region) % DFT_RECENT];
    const struct add_bins bins = {recent.spine ? &table->spines[recent.spine - 1] : NULL, table->chunks};
    uint32_t capacity = (table->chunks_capacity - table->nchunks) / 2, count;
    struct dft_metrics sum;

    if (!recent.to_ns || recent.subject != call->id || recent.op != call->op || recent.region != event->region ||
        !add_is_of_run(&recent, event, event->call))
        return i;
    if (limit - i > capacity)
        limit = i + capacity;
    while (limit > i && (when[limit - 1].start_ns >= recent.to_ns ||
                         when[limit - 1].start_ns + when[limit - 1].dur_ns > recent.to_ns))
        limit--;
    count = limit - i;
    if (!count)
        return i;
    dft_metrics_clear_inline(&sum);
    sum.first_start = when[i].start_ns;
    sum.last_end = when[limit - 1].start_ns + when[limit - 1].dur_ns;
    if (is_data) {
        const struct add_same same = {event->result, event->unit, event->bits, dft_event_bytes(event, call->op), count};

        add_same_end(table, &bins, &sum, &same);
        sum.data = count;
        if (event->offset >= 0) {
            sum.offset_min = event->offset;
            sum.offset_max = event->offset + (int64_t)(same.bytes * count);
        }
    }
    for (; i < limit; i++) {
        uint64_t dur_ns = when[i].dur_ns;

        sum.dur_sum += dur_ns;
        sum.dur_min = dur_ns < sum.dur_min ? dur_ns : sum.dur_min;
        sum.dur_max = dur_ns > sum.dur_max ? dur_ns : sum.dur_max;
        add_bin(table, &bins, DFT_DURATIONS, dur_ns, 1);
    }
    sum.count = sum.samples = count;
    sum.edge = sum.dur_sum;
    dft_metrics_merge_inline(&table->rows[recent.row].metrics, &sum);
    return limit;
}

int dft_table_add_repeat(struct dft_table *table, const struct dft_batch *batch, const struct dft_repeat *repeat,
                         uint32_t *position)
{
    const struct dft_event *first = &batch->events[repeat->first];
    const struct dft_call *call = batch->calls + first->call;
    uint32_t i = *position, limit = repeat->first + repeat->count;
    uint64_t bytes = dft_event_bytes(first, call->op);
    enum dft_class class = dft_op_class(call->op);
    int rc = 0, is_data = class == DFT_CLASS_READ || class == DFT_CLASS_WRITE;

    if (!add_is_aggregated(first, call->op, class))
        i = limit;
    while (i < limit && !rc) {
        struct dft_event event;
        uint32_t end = i;

        dft_repeat_event(batch, repeat, i, bytes, &event);
        if (!(table->keep & DFT_KEEP_FILES) && i > repeat->first)
            end = add_repeat_run(table, batch, &event, i, limit, is_data);
        if (end > i) {
            i = end;
            continue;
        }
        rc = dft_table_add_one(table, &event, call, class);
        i += !rc;
    }
    *position = i;
    return rc;
}
