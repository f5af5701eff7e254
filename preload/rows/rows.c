/* SPDX-License-Identifier: MIT */
/* The quick way of a call into the rows of its thread: its clock, its interval and its rows are those
 * of the last call of its kind, and no row, counter or pattern has to be made. */
#include "rows/rows_inside.h"

#include "format/calls.h"
#include "format/slot_event.h"
#include "thread/append.h"

#define INLINE static inline __attribute__((always_inline))

/* What a quick step adds, in registers. */
struct quick {
    uint64_t start_ns, end_ns, dur_ns;
    uint64_t bytes, asked;
    int64_t offset, end;
    uint32_t duration_counter;
};

/* --- what the last call was not -------------------------------------------------------------- */

/* Moves a cursor to the row of a record. Returns 0: there is no room. */
static __attribute__((noinline)) int move_cursor(struct dft_rows *rows, struct dft_rows_cursor *cursor,
                                                 const struct dft_slot *record)
{
    const struct dft_rows_more more = {.size = record->size, .unit = 1, .calls = 1};
    struct dft_rows_event event;
    struct dft_live_key key;
    int histogram;

    dft_rows_read(&event, record, &more);
    key = (struct dft_live_key){event.subject, event.region, rows->interval, event.call, event.facets};
    cursor->kind = 0;
    cursor->row = dft_rows_row(rows, &key);
    if (!cursor->row)
        return 0;
    key.interval = rows->coarse;
    histogram = dft_rows_histogram(rows, &key);
    if (histogram < 0)
        return 0;
    cursor->histogram = (uint32_t)histogram;
    if (event.is_data &&
        (!(cursor->bytes_counter = dft_rows_counter(rows, cursor->histogram, DFT_LIVE_SIZES, event.bytes)) ||
         !(cursor->asked_counter = dft_rows_counter(rows, cursor->histogram, DFT_LIVE_ASKED, event.asked))))
        return 0;
    cursor->size = record->size;
    cursor->result = record->result;
    cursor->bytes = event.bytes;
    cursor->region = event.region;
    cursor->subject = event.subject;
    cursor->err = record->err;
    cursor->which = event.which;
    cursor->kind = dft_rows_kind(record);
    return 1;
}

/* Moves to the row of a record's file. Returns 0: there is no room. */
static __attribute__((noinline)) int move_seen(struct dft_rows *rows, struct dft_rows_seen *seen,
                                               const struct dft_slot *record, uint32_t which)
{
    uint32_t place = dft_rows_find_file(rows, record->file, record->region, rows->coarse, which);
    const struct dft_live_file *file;

    if (!place && dft_rows_has_room(rows, 1))
        place = dft_rows_file(rows, record->file, record->region, rows->coarse, which);
    if (!place)
        return 0;
    file = dft_live_at(rows->live, place);
    *seen = (struct dft_rows_seen){.file = record->file,
                                   .region = record->region,
                                   .which = which,
                                   .place = place,
                                   .data = file->data,
                                   .pattern = file->pattern,
                                   .offset = -1};
    return 1;
}

/* Gives the file's row what the access needs. Returns 0: there is no room. */
static __attribute__((noinline)) int widen(struct dft_rows *rows, struct dft_rows_seen *seen, int64_t offset,
                                           uint64_t bytes)
{
    const struct dft_rows_event event = {.offset = offset, .bytes = bytes, .is_data = 1};
    const struct dft_live_file *file = dft_live_at(rows->live, seen->place);

    if (dft_rows_widen_file(rows, seen->place, &event))
        return 0;
    seen->data = file->data;
    seen->pattern = file->pattern;
    return 1;
}

/* Marks what the access touched, and how far it is from the last one. */
static __attribute__((noinline)) void add_to_pattern(struct dft_live_table *live, const struct dft_rows_seen *seen,
                                                     const struct dft_slot *record)
{
    dft_live_add_to_pattern(dft_live_at(live, seen->pattern), &live->step);
    if ((record->bits & (DFT_BIT_SEQUENTIAL | DFT_BIT_CONSECUTIVE)) == DFT_BIT_CONSECUTIVE && seen->offset >= 0)
        dft_rows_stride(live, seen->pattern, record->offset - seen->offset);
}

/* --- a step ----------------------------------------------------------------------------------- */

/* Is the cursor that of the record? has_size: the row depends on the size requested. */
INLINE int is_of(const struct dft_rows_cursor *cursor, const struct dft_slot *record, uint32_t kind, int is_call,
                 int is_data, int has_size)
{
    return __builtin_expect(cursor->kind == kind && cursor->region == record->region && cursor->err == record->err &&
                                (is_call || cursor->subject == record->file) &&
                                (!has_size || cursor->size == record->size) &&
                                (!is_data || cursor->result == record->result),
                            1);
}

INLINE int is_seen(const struct dft_rows_seen *seen, const struct dft_slot *record, uint32_t which)
{
    return __builtin_expect(seen->file == record->file && seen->region == record->region && seen->which == which, 1);
}

/* Can the access be added as it is? What is touched stays all between two offsets. */
INLINE int is_plain(const struct dft_live_table *live, const struct dft_rows_seen *seen, const struct quick *quick)
{
    const struct dft_live_data *data = dft_live_at(live, seen->data);

    if (__builtin_expect(!seen->data || seen->pattern, 0))
        return 0;
    return quick->offset < 0 || (quick->offset <= data->offset_max && quick->end >= data->offset_min) ||
           data->object.number;
}

/* Notes the step for a reader who has to finish it. */
INLINE void note(struct dft_rows *rows, const struct dft_rows_cursor *cursor, const struct dft_rows_seen *seen,
                 const struct dft_slot *record, const struct quick *quick, int is_data)
{
    struct dft_live_table *live = rows->live;
    struct dft_live_step *step = &live->step;
    const uint32_t *counts = (const uint32_t *)(const void *)live;

    step->start_ns = quick->start_ns;
    step->end_ns = quick->end_ns;
    step->occupancy = rows->slot;
    step->samples = step->calls = 1;
    step->is_data = (uint8_t)is_data;
    step->is_error = record->err != 0;
    step->is_turn = (record->call & DFT_SLOT_TURN) != 0;
    step->bits = record->bits;
    step->nfurther = 0;
    step->pattern = is_data && seen ? seen->pattern : 0;
    step->row = cursor->row;
    step->row_sums = ((const struct dft_live_row *)dft_live_at(live, cursor->row))->sums;
    step->counters[DFT_LIVE_DURATIONS] = quick->duration_counter;
    step->counts[DFT_LIVE_DURATIONS] = counts[quick->duration_counter];
    step->file = seen ? seen->place : 0;
    if (seen)
        step->file_sums = ((const struct dft_live_file *)dft_live_at(live, seen->place))->sums;
    if (is_data) {
        step->bytes = quick->bytes;
        step->asked = quick->asked;
        step->offset = quick->offset;
        step->counters[DFT_LIVE_SIZES] = cursor->bytes_counter;
        step->counts[DFT_LIVE_SIZES] = counts[cursor->bytes_counter];
        step->counters[DFT_LIVE_ASKED] = cursor->asked_counter;
        step->counts[DFT_LIVE_ASKED] = counts[cursor->asked_counter];
        step->data = seen ? seen->data : 0;
        if (seen)
            step->data_sums = ((const struct dft_live_data *)dft_live_at(live, seen->data))->sums;
    } else {
        step->counters[DFT_LIVE_SIZES] = step->counters[DFT_LIVE_ASKED] = step->data = 0;
    }
}

INLINE void add_sizes(const struct quick *quick, uint64_t *size_min, uint64_t *size_max, int64_t *offset_min,
                      int64_t *offset_max)
{
    dft_live_lower(size_min, quick->bytes);
    dft_live_raise(size_max, quick->bytes);
    if (quick->offset >= 0) {
        if (quick->offset < *offset_min)
            *offset_min = quick->offset;
        if (quick->end > *offset_max)
            *offset_max = quick->end;
    }
}

INLINE void add_to_row(struct dft_live_row *row, const struct quick *quick, uint64_t slot, int is_data, uint64_t turn)
{
    row->sums.samples++;
    row->sums.dur_sum += quick->dur_ns;
    row->occupancy |= slot;
    dft_live_lower(&row->dur_min, quick->dur_ns);
    dft_live_raise(&row->dur_max, quick->dur_ns);
    dft_live_lower(&row->first_start, quick->start_ns);
    dft_live_raise(&row->last_end, quick->end_ns);
    if (!is_data)
        return;
    row->sums.data++;
    row->sums.bytes += quick->bytes;
    row->sums.asked += quick->asked;
    row->sums.turns += turn;
    add_sizes(quick, &row->size_min, &row->size_max, &row->offset_min, &row->offset_max);
}

INLINE void add_to_file(struct dft_live_file *file, const struct quick *quick, int is_error)
{
    file->sums.samples++;
    file->sums.dur_sum += quick->dur_ns;
    file->sums.errors += (uint64_t)is_error;
    dft_live_lower(&file->dur_min, quick->dur_ns);
    dft_live_raise(&file->dur_max, quick->dur_ns);
    dft_live_lower(&file->first_start, quick->start_ns);
    dft_live_raise(&file->last_end, quick->end_ns);
}

INLINE void add_to_data(struct dft_live_data *data, const struct quick *quick, uint32_t bits, uint64_t turn)
{
    data->sums.data++;
    data->sums.bytes += quick->bytes;
    data->sums.asked += quick->asked;
    data->sums.sequential += bits & DFT_BIT_SEQUENTIAL;
    data->sums.consecutive += bits & bits / DFT_BIT_CONSECUTIVE & 1;
    data->sums.turns += turn;
    add_sizes(quick, &data->size_min, &data->size_max, &data->offset_min, &data->offset_max);
}

/* Adds what was noted, as dft_live_apply does, but from registers: to read the step again costs a
 * pread 77 instructions more. The law of rows (tests/preload/rows_test.c) holds the two together. */
INLINE void add(struct dft_rows *rows, const struct dft_rows_cursor *cursor, struct dft_rows_seen *seen,
                const struct dft_slot *record, const struct quick *quick, int is_data)
{
    struct dft_live_table *live = rows->live;
    uint32_t *counts = (uint32_t *)(void *)live;
    uint64_t turn = record->call / DFT_SLOT_TURN;

    add_to_row(dft_live_at(live, cursor->row), quick, rows->slot, is_data, turn);
    counts[quick->duration_counter]++;
    if (is_data) {
        counts[cursor->bytes_counter]++;
        counts[cursor->asked_counter]++;
    }
    if (seen)
        add_to_file(dft_live_at(live, seen->place), quick, record->err != 0);
    if (seen && is_data) {
        add_to_data(dft_live_at(live, seen->data), quick, record->bits, turn);
        if (__builtin_expect(seen->pattern, 0))
            add_to_pattern(live, seen, record);
        seen->offset = quick->offset;
    }
}

/* Returns 0 with nothing done: the record takes another way. A step has begun. */
INLINE int add_quickly(struct dft_rows *rows, const struct dft_slot *record, int is_call, int is_data, int has_size)
{
    const uint32_t kind = dft_rows_kind(record);
    struct dft_rows_cursor *cursor =
        dft_rows_cursor_of(rows, kind, has_size ? dft_size_class(record->size) : 0, record->region);
    const uint64_t start = record->start, from = start - rows->since, duration = record->duration;
    struct dft_live_table *live = rows->live;
    struct dft_rows_seen *seen = NULL;
    uint64_t ticket = dft_rows_load(&live->ticket);
    struct quick quick;

    if (__builtin_expect(from >= rows->window || duration >= rows->window - from, 0) ||
        (!is_of(cursor, record, kind, is_call, is_data, has_size) && !move_cursor(rows, cursor, record)))
        return 0;
    quick.start_ns = dft_near_clock_ns(&rows->near, start);
    quick.end_ns = dft_near_clock_ns(&rows->near, start + duration);
    quick.dur_ns = quick.end_ns - quick.start_ns;
    quick.duration_counter = dft_rows_counter_there(rows, cursor->histogram, DFT_LIVE_DURATIONS, quick.dur_ns);
    if (__builtin_expect(!quick.duration_counter, 0) &&
        !(quick.duration_counter = dft_rows_counter(rows, cursor->histogram, DFT_LIVE_DURATIONS, quick.dur_ns)))
        return 0;
    if (is_call && record->file && cursor->which != DFT_ROWS_NO_FILE) {
        seen = dft_rows_seen_of(rows, record->file, cursor->which);
        if (!is_seen(seen, record, cursor->which) && !move_seen(rows, seen, record, cursor->which))
            return 0;
    }
    if (is_data) {
        quick.bytes = cursor->bytes;
        quick.asked = record->size;
        quick.offset = record->offset;
        quick.end = (int64_t)((uint64_t)record->offset + quick.bytes);
        if (__builtin_expect((int64_t)((uint64_t)quick.end + 1) <= quick.offset, 0))
            return 0; /* it ends where 64 bits end */
        if (seen && !is_plain(live, seen, &quick) && !widen(rows, seen, quick.offset, quick.bytes))
            return 0;
    }
    note(rows, cursor, seen, record, &quick, is_data);
    dft_rows_apply_step(live, ticket);
    add(rows, cursor, seen, record, &quick, is_data);
    atomic_store_explicit(&live->events, ticket, memory_order_release);
    return 1;
}

static __attribute__((noinline)) int take_slowly(struct dft_thread *self, const struct dft_slot *record)
{
    const struct dft_rows_more more = {.size = record->size,
                                       .duration = record->duration,
                                       .unit = 1,
                                       .calls = 1,
                                       .phase = record->bits >> DFT_SLOT_PHASE_SHIFT};

    dft_rows_cancel(self->rows->live);
    return dft_rows_take_any(self, record, &more);
}

int dft_rows_take(struct dft_thread *self, const struct dft_slot *record)
{
    const uint32_t number = dft_slot_number(record->call);
    struct dft_rows *rows = self->rows;
    int done, is_data;

    if (__builtin_expect(dft_vfork_mark, 0) || !dft_rows_begin_step(rows))
        return 0;
    if (__builtin_expect(record->bits >> DFT_SLOT_PHASE_SHIFT, 0))
        done = 0;
    else if (number >= DFT_CALL_COUNT)
        done = number == DFT_CALL_ANNOTATION + DFT_OP_REGION && add_quickly(rows, record, 0, 0, 0);
    else if ((is_data = dft_op_is_data(dft_call_rows[number].op)) && !record->err)
        done = add_quickly(rows, record, 1, 1, 1);
    else
        done = add_quickly(rows, record, 1, 0, is_data);
    return __builtin_expect(done, 1) || take_slowly(self, record);
}
