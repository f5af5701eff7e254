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

static void count_same(struct dft_cursor *cursor, int which, uint64_t value)
{
    uint32_t bin = dft_bin_of(value), chunk = cursor->spine->chunks[which][bin / DFT_CHUNK_BINS];

    cursor->chunks[chunk - 1].counts[bin % DFT_CHUNK_BINS] += cursor->same_count;
}

/* Counts the bytes of the last data events. */
static void end_same(struct dft_cursor *cursor)
{
    uint64_t count = cursor->same_count, bytes = cursor->same_bytes;

    if (!count)
        return;
    cursor->data += count;
    cursor->bytes += bytes * count;
    cursor->asked += cursor->same_asked * count;
    cursor->size_min = bytes < cursor->size_min ? bytes : cursor->size_min;
    cursor->size_max = bytes > cursor->size_max ? bytes : cursor->size_max;
    count_same(cursor, DFT_SIZES, bytes);
    count_same(cursor, DFT_ASKED, cursor->same_asked);
    cursor->same_count = 0;
}

int dft_cursor_move_bytes(struct dft_cursor *cursor, uint64_t bytes, uint64_t asked)
{
    if (!cursor->spine->chunks[DFT_SIZES][dft_bin_of(bytes) / DFT_CHUNK_BINS] ||
        !cursor->spine->chunks[DFT_ASKED][dft_bin_of(asked) / DFT_CHUNK_BINS])
        return 0;
    end_same(cursor);
    cursor->same_bytes = bytes;
    cursor->same_asked = asked;
    return 1;
}

static void clear(struct dft_cursor *cursor)
{
    cursor->samples = cursor->dur_sum = cursor->dur_max = cursor->last_end = 0;
    cursor->data = cursor->bytes = cursor->asked = cursor->size_max = cursor->turns = 0;
    cursor->dur_min = cursor->size_min = cursor->first_start = UINT64_MAX;
    cursor->offset_min = INT64_MAX;
    cursor->offset_max = -1;
}

/* Adds the cursor's sums to its row. The cursor stays there, empty, but for its occupancy: when the
 * rows are cleared, the cursor is moved. */
static void settle(struct dft_table *table, struct dft_cursor *cursor)
{
    uint32_t bits = (uint32_t)(cursor->kind >> DFT_KIND_BITS_SHIFT);
    struct dft_metrics sum;

    if (!cursor->samples)
        return;
    end_same(cursor);
    sum = (struct dft_metrics){.count = cursor->samples,
                               .samples = cursor->samples,
                               .errors = cursor->kind >> 48 ? cursor->samples : 0,
                               .dur_sum = cursor->dur_sum,
                               .dur_min = cursor->dur_min,
                               .dur_max = cursor->dur_max,
                               .edge = cursor->dur_sum,
                               .first_start = cursor->first_start,
                               .last_end = cursor->last_end,
                               .data = cursor->data,
                               .bytes = cursor->bytes,
                               .size_min = cursor->size_min,
                               .size_max = cursor->size_max,
                               .offset_min = cursor->offset_min,
                               .offset_max = cursor->offset_max,
                               .sequential = bits & DFT_BIT_SEQUENTIAL ? cursor->data : 0,
                               .consecutive = dft_bits_are_consecutive(bits) ? cursor->data : 0,
                               .asked = cursor->asked,
                               .turns = cursor->turns,
                               .occupancy = cursor->occupancy};
    dft_metrics_merge_inline(&table->rows[cursor->row].metrics, &sum);
    clear(cursor);
    table->sorted = 0;
}

void dft_table_settle(struct dft_table *table)
{
    for (uint32_t i = 0; i < DFT_CURSORS; i++)
        settle(table, &table->cursors[i]);
}

int dft_cursor_move_within(struct dft_cursor *cursor, uint64_t start_ns, uint64_t dur_ns)
{
    uint64_t width = cursor->end_ns - cursor->row_ns, end_ns = start_ns + dur_ns;
    struct add_part part;

    if (!cursor->width_ns || start_ns - cursor->row_ns >= width || dur_ns > cursor->end_ns - start_ns)
        return 0;
    part = add_part_at(cursor->row_ns, width, dur_ns ? end_ns - 1 : start_ns);
    cursor->from_ns = part.from_ns;
    cursor->to_ns = part.to_ns;
    cursor->width_ns = part.to_ns - part.from_ns;
    cursor->occupancy |= start_ns >= part.from_ns
                             ? UINT64_C(1) << part.number
                             : dft_occupancy_of(start_ns - cursor->row_ns, end_ns - cursor->row_ns, width);
    return 1;
}

/* Moves a cursor to the row of an event that was just added there. After an event that reaches beyond its interval, the
 * next one of its kind is likely in another row. */
static void move_to(struct dft_table *table, struct dft_cursor *cursor, const struct dft_recent *recent,
                    const struct dft_cursor_sample *sample)
{
    cursor->width_ns = 0;
    if (!recent->spine || sample->dur_ns > recent->to_ns - sample->start_ns ||
        recent->to_ns - recent->from_ns != table->interval_ns)
        return;
    cursor->width_ns = 1; /* somewhere */
    cursor->row_ns = recent->from_ns;
    cursor->end_ns = recent->to_ns;
    cursor->region = sample->region;
    cursor->kind = sample->kind;
    cursor->row = recent->row;
    cursor->chunks = table->chunks;
    cursor->spine = &table->spines[recent->spine - 1];
    cursor->same_bytes = UINT64_MAX; /* none moves so many: the first one looks for its counter */
    cursor->occupancy = 0;
    clear(cursor);
    dft_cursor_move_within(cursor, sample->start_ns, sample->dur_ns);
}

void dft_table_put(struct dft_table *table, const struct dft_event *event, uint64_t bytes, const struct dft_call *call)
{
    enum dft_class class = dft_op_class(call->op);
    int is_data = class == DFT_CLASS_READ || class == DFT_CLASS_WRITE;
    int is_common = event->phase == DFT_PHASE_COMPLETE && event->calls == 1 && !(event->bits & DFT_BIT_OPEN);
    struct dft_cursor_sample sample = {
        .start_ns = event->start_ns,
        .dur_ns = event->dur_ns,
        .region = event->region,
        .kind = is_data ? dft_cursor_data_kind(event->call, event->err, event->size, event->bits, event->offset)
                        : dft_cursor_kind(event->call, event->err),
        .bytes = bytes,
        .asked = event->size,
        .offset = event->offset,
        .err = event->err,
        .turn = (event->bits & DFT_BIT_TURN) != 0};
    struct dft_cursor *cursor = dft_cursor_of(table->cursors, sample.kind, event->region);
    const struct dft_recent *recent;

    if (!add_is_aggregated(event, call->op, class) || (is_common && dft_cursor_add(cursor, &sample, is_data)))
        return;
    if (cursor->kind != sample.kind && !table->cursors[dft_cursor_number(sample.kind, sample.region)].width_ns)
        cursor = &table->cursors[dft_cursor_number(sample.kind, sample.region)];
    settle(table, cursor);
    table->sorted = 0;
    if (!dft_table_add_one(table, event, call, class, &recent) && is_common)
        move_to(table, cursor, recent, &sample);
}
