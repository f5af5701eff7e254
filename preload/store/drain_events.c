/* SPDX-License-Identifier: MIT */
/* One pass takes a record from its slot into the columns of a block and into a row. Nearly all
 * records have one slot, and take the short way (take_common). The others come from the decoder of
 * rings as whole events.
 *
 * Rows wait in the context over several drains: one block of rows then covers many blocks of
 * events. A reader of a killed process's trace recomputes the rows of the last events. So
 * rows wait only for events whose blocks are in the file or staged, and for numbers without a
 * gap. */
#include "store/drain_events.h"

#include <errno.h>
#include <string.h>

#include "aggregator/cursor.h"
#include "format/encode.h"
#include "settings/config.h"
#include "os/self.h"
#include "store/staging.h"

int dft_drain_kept;

#define ROWS_BLOCKS 16u /* blocks of events that a block of rows covers */

/* --- rows as blocks --------------------------------------------------------------------------- */

/* Stages the rows of the table as one block, which stands for `events` events. */
static void stage_rows(struct dft_context *context, struct dft_buckets *buckets, uint32_t events)
{
    const void *block;
    long length;

    buckets->interval_ns = dft_config.trace_interval_ms * 1000000u;
    dft_table_rows(context->table, &buckets->rows, &buckets->count);
    if (!buckets->count && !dft_config.enable_aggregation)
        return;
    dft_buckets_find_times(buckets);
    length = dft_encode_buckets(context->encoder, buckets, &block);
    if (!dft_config.enable_aggregation && length > (long)(DFT_STAGING_BYTES - context->staged))
        dft_staging_flush(context);
    if (dft_config.enable_aggregation || !context->failed) /* rows of events that are not there are wrong */
        dft_staging_put(context, block, length, dft_config.enable_aggregation ? events : 0);
}

void dft_drain_rows(struct dft_context *context)
{
    const struct dft_context_rows *rows = &context->rows;
    struct dft_buckets buckets = {.key = rows->key,
                                  .stream = rows->stream,
                                  .tid = rows->tid,
                                  .first = rows->first,
                                  .last = rows->last,
                                  .calls = context->decoder.calls,
                                  .ncalls = context->decoder.ncalls,
                                  .names = rows->names,
                                  .nnames = rows->nnames};

    if (rows->are_there && !context->failed)
        stage_rows(context, &buckets, 0);
    dft_context_drop_rows(context);
}

/* May the rows of a batch that begins here join those that wait? */
static int may_join(const struct dft_context_rows *rows, const struct dft_batch *batch)
{
    return !rows->are_there || (rows->key == batch->key && rows->stream == batch->stream && rows->tid == batch->tid &&
                                rows->last + 1 == batch->first);
}

/* Copies the names of regions and functions, which rows refer to. */
static void keep_names(struct dft_context_rows *rows, const struct dft_batch *batch)
{
    for (uint32_t i = 0; i < batch->nnames; i++) {
        struct dft_name name = batch->names[i];

        if (!name.text.length || name.text.bytes[0] == '/')
            continue;
        if (rows->nnames == DFT_ROWS_NAMES || name.text.length > DFT_ROWS_TEXT - rows->text_used) {
            rows->are_full = 1; /* the events' block has the text */
            continue;
        }
        memcpy(rows->text + rows->text_used, name.text.bytes, name.text.length);
        name.text.bytes = rows->text + rows->text_used;
        rows->text_used += name.text.length;
        rows->names[rows->nnames++] = name;
    }
}

/* The block with the batch's events is staged: their rows may wait. */
static void join(struct dft_context *context, const struct dft_batch *batch)
{
    struct dft_context_rows *rows = &context->rows;

    if (!batch->count && !may_join(rows, batch))
        return;
    if (!rows->are_there && batch->count) {
        rows->are_there = 1;
        rows->key = batch->key;
        rows->stream = batch->stream;
        rows->tid = batch->tid;
        rows->first = batch->first;
    }
    rows->last = batch->last;
    rows->blocks++;
    keep_names(rows, batch);
    if (rows->blocks == ROWS_BLOCKS)
        rows->are_full = 1;
}

/* --- events into columns and rows ------------------------------------------------------------- */

/* The call with this index, ready for this block. The first place is of no call: a record of a call
 * that the decoder has not met is compared with it, and is different. */
static struct dft_slot_call *call_at(struct dft_context *context, uint32_t index)
{
    for (; context->calls_ready <= index; context->calls_ready++)
        dft_slot_call_init(&context->calls[1 + context->calls_ready], &context->decoder.calls[context->calls_ready],
                           context->calls_ready);
    return &context->calls[1 + index];
}

/* The call of a record, which the decoder may not have met yet. The place that is of no call: it is
 * not an event, or there is no room for its call. */
static __attribute__((noinline)) struct dft_slot_call *find_call(struct dft_context *context,
                                                                 const struct dft_slot *slot)
{
    struct dft_ring_decoder *decoder = &context->decoder;

    if (!dft_slot_is_event(dft_slot_number(slot->call)) || decoder->ncalls == decoder->events_max)
        return &context->calls[0];
    return call_at(context, dft_ring_decoder_call(decoder, slot));
}

/* The same, of a call that the decoder has met in this block. Annotations are distinguished by their
 * names, and mostly one follows itself. */
static inline struct dft_slot_call *known_call(struct dft_context *context, const struct dft_slot *slot, uint32_t kind,
                                               struct dft_slot_call *last)
{
    uint32_t key = kind & DFT_SLOT_KEY_MASK;

    if (__builtin_expect(key < DFT_CALL_COUNT, 1))
        return &context->calls[context->decoder.call_of[key]];
    if (dft_slot_number(key) < DFT_CALL_COUNT)
        return &context->calls[context->decoder.call_of[dft_ring_decoder_place(key)]];
    return (last->kind & DFT_SLOT_KEY_MASK) == key && last->subject == slot->file ? last : find_call(context, slot);
}

/* A record of another kind than the last one of its call, or that lies elsewhere in time, or in
 * another row. Returns 0, or -1 when it must wait for another block, or is not of one slot. */
static __attribute__((noinline)) int take_other(struct dft_context *context, const struct dft_slot *slot)
{
    struct dft_slot_call *call;
    struct dft_event event;
    uint64_t start_ns;

    if (slot->slots != 1 || dft_table_has_room(context->table))
        return -1;
    call = find_call(context, slot);
    if (call == &context->calls[0])
        return -1;
    start_ns = dft_clock_ns(&context->clock, slot->start);
    dft_slot_to_event(call, slot, start_ns, dft_clock_since(&context->clock, start_ns, slot->start + slot->duration),
                      &event);
    dft_table_put(context->table, &event, dft_event_bytes_by(&event, call->state.bytes),
                  &context->decoder.calls[event.call]);
    dft_slot_put_event(&context->events, call, slot, &event);
    return 0;
}

/* The records behind one that begins a repeat. Returns their number. */
static uint32_t take_repeat(struct dft_events_encoder *events, struct dft_slot_call *call, const struct dft_slot *first,
                            uint32_t most, const struct dft_near_clock *clock, struct dft_cursor *cursor)
{
    const struct dft_near_clock near = *clock; /* whose fields no store can change */
    const uint32_t marker = atomic_load_explicit(&first->marker, memory_order_relaxed), kind = dft_slot_kind(first);
    const struct dft_slot *slot = first + 1;
    struct dft_cursor_repeat run = dft_cursor_repeat(cursor);
    uint64_t *gaps = events->gaps + events->count, *durations = events->durations + events->count;
    uint64_t end_ns = events->previous_end, step = first->offset == -1 ? 0 : call->bytes;
    int64_t offset = first->offset;
    uint32_t n = 0;

    for (; n < most; n++, slot++) {
        uint64_t start = slot->start, until = start + slot->duration, start_ns, dur_ns;

        offset += (int64_t)step;
        if (atomic_load_explicit(&slot->marker, memory_order_acquire) != marker ||
            !dft_slot_goes_on(slot, first, kind, offset) || !dft_near_clock_knows(&near, start) ||
            !dft_near_clock_knows(&near, until))
            break;
        start_ns = dft_near_clock_ns(&near, start);
        dur_ns = dft_near_clock_ns(&near, until) - start_ns;
        if (start_ns < end_ns || !dft_cursor_repeat_add(&run, start_ns, dur_ns))
            break;
        gaps[n] = start_ns - end_ns;
        durations[n] = dur_ns;
        end_ns = start_ns + dur_ns;
    }
    if (n) {
        dft_cursor_repeat_end(&run, n, end_ns, call->is_data && !first->err, (first->call & DFT_SLOT_TURN) != 0,
                              first->offset == -1 ? -1 : first->offset + (int64_t)((n + 1) * step));
        dft_slot_put_repeat(events, call, first, n, end_ns);
    }
    return n;
}

/* The first of a block's events. Returns 0 when the rows that wait must be written before. */
static int begin_rows(struct dft_context *context, const struct dft_batch *batch)
{
    if (!batch->count && !may_join(&context->rows, batch))
        context->rows.are_full = 1;
    return !context->rows.are_full;
}

/* struct dft_ring_sink: records of one slot, of this lap. */
static uint64_t take_common(void *argument, const struct dft_batch *batch, const struct dft_ring *ring,
                            uint64_t sequence, uint64_t end)
{
    struct dft_context *context = argument;
    struct dft_events_encoder *events = &context->events;
    const struct dft_slot *first = dft_ring_slot(ring, sequence), *slot = first, *last = first + (end - sequence);
    struct dft_near_clock near = context->near;
    struct dft_cursor *cursors = dft_table_cursors(context->table);
    const uint32_t lap = dft_ring_marker(ring, sequence, DFT_SLOT_VALID);
    struct dft_slot_call *call = &context->calls[0];

    if (context->decoder.metric != DFT_TIME_NS || !dft_config.inc_metadata || !begin_rows(context, batch))
        return sequence;
    for (; slot < last; slot++) {
        uint32_t marker = atomic_load_explicit(&slot->marker, memory_order_acquire), kind = dft_slot_kind(slot);
        uint32_t flags;
        uint64_t start = slot->start, until = start + slot->duration;
        struct dft_cursor *cursor;
        struct dft_cursor_sample sample;

        if (marker != lap)
            break;
        call = known_call(context, slot, kind, call);
        if (dft_slot_is_again(events, call, slot, kind) && dft_near_clock_knows(&near, start) &&
            dft_near_clock_knows(&near, until)) {
            sample.start_ns = dft_near_clock_ns(&near, start);
            sample.dur_ns = dft_near_clock_ns(&near, until) - sample.start_ns;
            sample.region = slot->region;
            sample.bytes = dft_slot_bytes(call, slot);
            sample.asked = slot->size;
            sample.offset = call->meaning.mode ? -1 : slot->offset;
            sample.err = slot->err;
            sample.turn = (slot->call & DFT_SLOT_TURN) != 0;
            sample.kind = call->is_data
                              ? dft_cursor_data_kind(call->state.index, slot->err, slot->size, slot->bits, slot->offset)
                              : dft_cursor_kind(call->state.index, slot->err);
            cursor = dft_cursor_of(cursors, sample.kind, slot->region);
            if (dft_cursor_add(cursor, &sample, call->is_data)) {
                flags = dft_slot_put_again(events, call, slot, kind, sample.start_ns, sample.dur_ns, sample.offset,
                                           sample.bytes);
                if (slot + 1 < last && dft_slot_kind(slot + 1) == kind && dft_slot_begins_repeat(call, flags))
                    slot += take_repeat(events, call, slot, (uint32_t)(last - slot) - 1, &near, cursor);
                continue;
            }
        }
        if (take_other(context, slot))
            break;
        if (!dft_near_clock_knows(&near, start))
            near = dft_near_clock(&context->clock, start);
    }
    context->near = near;
    return sequence + (uint64_t)(slot - first);
}

/* struct dft_ring_sink: any other record may follow. */
static int is_ready(void *argument, const struct dft_batch *batch)
{
    struct dft_context *context = argument;

    if (!begin_rows(context, batch))
        return 0;
    context->rows.are_full = dft_table_has_room(context->table) != 0;
    return !context->rows.are_full;
}

/* DFTRACER_INC_METADATA=0: leaves out what no aggregate needs. */
static void leave_out_arguments(struct dft_event *event)
{
    event->flags = event->mode = 0;
    event->fd = -1;
}

/* struct dft_ring_sink: any other record. */
static void put(void *argument, const struct dft_event *event)
{
    struct dft_context *context = argument;
    struct dft_event copy = *event;
    struct dft_slot_call *call = call_at(context, event->call);
    uint64_t bytes;

    if (!dft_config.inc_metadata)
        leave_out_arguments(&copy);
    bytes = dft_event_bytes_by(&copy, call->state.bytes);
    dft_table_put(context->table, &copy, bytes, &context->decoder.calls[copy.call]);
    dft_events_put(&context->events, &call->state, &copy, bytes);
    call->kind = 0; /* the next one of one slot may say something else */
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* A batch with more keys than the table has rows becomes several blocks. The i-th event has the
 * number first + i. */
static void stage_rows_of(struct dft_context *context, const struct dft_batch *batch)
{
    uint32_t done = 0, from;
    int full;

    do {
        struct dft_buckets buckets = {.key = batch->key,
                                      .stream = batch->stream,
                                      .tid = batch->tid,
                                      .calls = batch->calls,
                                      .ncalls = batch->ncalls,
                                      .names = batch->names,
                                      .nnames = batch->nnames};

        from = done;
        dft_table_clear(context->table);
        full = dft_table_add(context->table, batch, &done) != 0 && done > from;
        buckets.first = batch->first + from;
        buckets.last = full ? batch->first + done - 1 : batch->last;
        stage_rows(context, &buckets, done - from);
    } while (full);
    dft_table_clear(context->table);
}

/* Moves the names of regions to the front, for the rows: only events use paths. Returns the number
 * of regions. */
static uint32_t regions_first(struct dft_batch *batch)
{
    uint32_t regions = 0;

    for (uint32_t i = 0; i < batch->nnames; i++)
        if (!batch->names[i].text.length || batch->names[i].text.bytes[0] != '/') {
            struct dft_name name = batch->names[i];

            batch->names[i] = batch->names[regions];
            batch->names[regions++] = name;
        }
    return regions;
}

void dft_drain_batch(struct dft_context *context, struct dft_batch *batch)
{
    const void *block;
    long length;

    for (uint32_t i = 0; i < batch->count && !dft_config.inc_metadata; i++)
        leave_out_arguments(&batch->events[i]);
    if (!dft_config.enable_aggregation) {
        length = dft_encode_events(context->encoder, batch, &block);
        dft_staging_put(context, block, length, batch->count);
        batch->nnames = regions_first(batch);
    }
    stage_rows_of(context, batch);
}

/* Begins a block of at most so many slots. Each has at most four ids: of its file, its region,
 * another file, its call; or those of a part's arguments. A record of an older lap may have more
 * slots. */
static int begin_block(struct dft_context *context, uint64_t slots)
{
    const uint32_t most = context->decoder.events_max, count = slots < most ? (uint32_t)slots : most;
    const struct dft_events_bounds bounds = {
        .events = count, .calls = count, .ids = 4 * (slots + DFT_RECORD_SLOTS_MAX)};

    dft_context_begin_calls(context);
    return dft_events_begin(&context->events, context->encoder, &bounds);
}

/* There is room for the ids of all events. If one could not be put, the block would be no good. */
static void end_block(struct dft_context *context, const struct dft_batch *batch)
{
    const void *block;
    long length = dft_events_end(&context->events, batch, &block);

    if (context->events.count != batch->count)
        length = -E2BIG;
    dft_staging_put(context, block, length, batch->count);
    if (length < 0)
        dft_context_drop_rows(context); /* they have what the events do not */
    else
        join(context, batch);
}

/* Aggregates alone need the rows of each drain, and a paused ring's events are nowhere. */
static int has_columns(const struct dft_ring *ring)
{
    return !dft_config.enable_aggregation &&
           !atomic_load_explicit(&((struct dft_ring *)(uintptr_t)ring)->paused, memory_order_relaxed);
}

void dft_drain_block(struct dft_context *context, const struct dft_ring *ring, uint64_t *sequence, uint64_t end)
{
    const struct dft_ring_sink sink = {.context = context, .run = take_common, .is_ready = is_ready, .put = put};
    struct dft_ring_decoder *decoder = &context->decoder;
    struct dft_batch batch;

    if (decoder->ncalls > decoder->events_max / 2 || !has_columns(ring))
        dft_drain_rows(context);
    context->near.most = 0; /* the clock may be another one by now */
    decoder->sink = has_columns(ring) && !begin_block(context, end - *sequence) ? &sink : NULL;
    dft_ring_decode(ring, sequence, end, decoder, &batch);
    if (batch.count || batch.nnames) {
        if (decoder->sink && batch.key == decoder->key) {
            end_block(context, &batch);
        } else {
            dft_drain_rows(context);
            dft_drain_batch(context, &batch);
        }
    }
    decoder->sink = NULL;
    if (context->rows.are_full)
        dft_drain_rows(context);
}
