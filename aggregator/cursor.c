/* SPDX-License-Identifier: MIT */
/* Cursors: where they move to, and how the table takes what they summed up. */
#include "aggregator/cursor.h"

#include "add_inside.h"

struct dft_cursor *dft_table_cursors(struct dft_table *table)
{
    return table->cursors;
}

int dft_table_has_room(struct dft_table *table)
{
    return dft_table_reserve_event(table);
}

/* Counts the bytes of the last data events. */
static void end_same(struct dft_cursor *cursor)
{
    uint64_t count = cursor->same_count;
    uint32_t bin = dft_bin_of(cursor->same_bytes);

    if (!count)
        return;
    cursor->sum.data += count;
    add_alike(&cursor->sum, cursor->same_bytes, cursor->same_bits, count);
    cursor->chunks[cursor->spine->chunks[DFT_SIZES][bin / DFT_CHUNK_BINS] - 1].counts[bin % DFT_CHUNK_BINS] += count;
    cursor->same_count = 0;
}

int dft_cursor_move_bytes(struct dft_cursor *cursor, uint64_t bytes, uint32_t bits)
{
    if (!cursor->spine->chunks[DFT_SIZES][dft_bin_of(bytes) / DFT_CHUNK_BINS])
        return 0;
    end_same(cursor);
    cursor->same_bytes = bytes;
    cursor->same_bits = bits;
    return 1;
}

/* Adds the cursor's sum to its row. The cursor stays there, empty. */
static void settle(struct dft_table *table, struct dft_cursor *cursor)
{
    struct dft_metrics *sum = &cursor->sum;

    if (!sum->samples)
        return;
    end_same(cursor);
    sum->count = sum->samples;
    sum->edge = sum->dur_sum;
    dft_metrics_merge_inline(&table->rows[cursor->row].metrics, sum);
    dft_metrics_clear_inline(sum);
    table->sorted = 0;
}

void dft_table_settle(struct dft_table *table)
{
    for (uint32_t i = 0; i < DFT_CURSORS; i++)
        settle(table, &table->cursors[i]);
}

/* Moves a cursor to the row of an event that was just added there. Of an event that reaches beyond
 * its interval the next one of its kind is likely in another row. */
static void move_to(struct dft_table *table, struct dft_cursor *cursor, const struct dft_event *event)
{
    const struct dft_recent *recent = dft_table_recent(table, event);

    cursor->width_ns = 0;
    if (!recent->spine || event->dur_ns > recent->to_ns - event->start_ns)
        return;
    cursor->from_ns = recent->from_ns;
    cursor->to_ns = recent->to_ns;
    cursor->width_ns = recent->to_ns - recent->from_ns;
    cursor->region = event->region;
    cursor->call = event->call;
    cursor->row = recent->row;
    cursor->chunks = table->chunks;
    cursor->spine = &table->spines[recent->spine - 1];
    cursor->same_bytes = UINT64_MAX; /* none moves so many: the first one looks for its counter */
    dft_metrics_clear_inline(&cursor->sum);
}

void dft_table_put(struct dft_table *table, const struct dft_event *event, uint64_t bytes, const struct dft_call *call)
{
    struct dft_cursor *cursor = dft_cursor_of(table->cursors, event->call, event->region);
    enum dft_class class = dft_op_class(call->op);
    int is_common = event->phase == DFT_PHASE_COMPLETE && event->calls == 1 && !(event->bits & DFT_BIT_OPEN);
    struct dft_sample sample = {.start_ns = event->start_ns,
                                .dur_ns = event->dur_ns,
                                .region = event->region,
                                .bytes = bytes,
                                .offset = event->offset,
                                .call = event->call,
                                .err = event->err,
                                .bits = event->bits & (DFT_BIT_SEQUENTIAL | DFT_BIT_CONSECUTIVE)};

    if (!add_is_aggregated(event, call->op, class) ||
        (is_common && dft_cursor_add(cursor, &sample, class == DFT_CLASS_READ || class == DFT_CLASS_WRITE)))
        return;
    settle(table, cursor);
    table->sorted = 0;
    dft_table_add_one(table, event, call, class);
    if (is_common)
        move_to(table, cursor, event);
}
