/* SPDX-License-Identifier: MIT */
/* EVENTS blocks from batches: the memory that one takes, and its columns in their order. */
#include <errno.h>

#include "args.h"
#include "encoder.h"
#include "format/events_encoder.h"
#include "shapes.h"
#include "times.h"

static const uint8_t column_bytes[DFT_EVENTS_COLUMNS] = {
#define DFT_EVENT_COLUMN(name, encodings, bytes) [DFT_EV_##name] = bytes,
#include "format/events.def"
#undef DFT_EVENT_COLUMN
};

/* Memory for a block. Returns 0 or -E2BIG. */
static int take_memory(struct dft_events_encoder *p, const struct dft_events_bounds *bounds)
{
    struct dft_encoder *encoder = p->encoder;
    uint64_t count = bounds->events, ncalls = bounds->calls < count ? bounds->calls : count;

    p->entries = dft_arena_take(encoder, sizeof *p->entries);
    p->gaps = dft_arena_take(encoder, count * 8);
    p->durations = dft_arena_take(encoder, count * 8);
    p->shapes = dft_arena_take(encoder, count * 8);
    p->call_order = dft_arena_take(encoder, ncalls * 4);
    if (!p->entries || !p->gaps || !p->durations || !p->shapes || !p->call_order)
        return -E2BIG;
    for (unsigned i = 0; i < DFT_EVENTS_COLUMNS; i++) {
        p->start[i] = p->at[i] = dft_arena_take(encoder, count * column_bytes[i]);
        if (!p->start[i])
            return -E2BIG;
    }
    return 0;
}

int dft_events_begin(struct dft_events_encoder *p, struct dft_encoder *encoder, const struct dft_events_bounds *bounds)
{
    int status;

    dft_block_begin(encoder);
    p->encoder = encoder;
    p->count = p->ncalls = p->nshapes = 0;
    status = take_memory(p, bounds);
    if (status)
        return status;
    p->start_ns = p->end_ns = p->previous_end = 0;
    dft_idmap_reset(&encoder->shapes);
    for (unsigned i = 0; i < DFT_RECENT; i++)
        p->recent[i] = &p->no_file;
    p->no_file = (struct dft_entry){.fd = -1};
    p->block = (struct dft_block_state){.fd = -1};
    return dft_entries_begin(encoder, p->entries, bounds->ids);
}

static void put_shapes(struct dft_events_encoder *p)
{
    struct dft_raw *raw = &p->encoder->raw;

    dft_raw_open(raw, DFT_EV_SHAPES, DFT_ENC_BYTES);
    dft_raw_leb(raw, p->nshapes);
    for (uint32_t i = 0; i < p->nshapes; i++) {
        dft_raw_leb(raw, p->shapes[i] >> 32);
        dft_raw_leb(raw, (uint32_t)p->shapes[i]);
    }
    dft_raw_close(raw);
}

/* The columns of events, in the order of their numbers, but for times. Returns 0 or -EINVAL. */
static int put_columns(struct dft_events_encoder *p, const struct dft_batch *batch, const uint32_t *arg_keys)
{
    struct dft_raw *raw = &p->encoder->raw;

    put_shapes(p);
    for (unsigned i = 0; i < DFT_EVENTS_COLUMNS; i++)
        if (i == DFT_EV_SHAPE)
            dft_shapes_put(raw, p->start[i], (size_t)(p->at[i] - p->start[i]), p->nshapes);
        else if (p->at[i] > p->start[i])
            dft_raw_column(raw, i, i == DFT_EV_STACK ? DFT_ENC_BYTES : DFT_ENC_LEB128, p->start[i],
                           (size_t)(p->at[i] - p->start[i]));
    dft_args_put(raw, batch, arg_keys);
    if (!batch->numbers || batch->first > batch->last)
        return 0;
    return dft_raw_ascending(raw, DFT_EV_NUMBER, batch->numbers, p->count, batch->last - batch->first);
}

long dft_events_end(struct dft_events_encoder *p, const struct dft_batch *batch, const void **block)
{
    struct dft_encoder *encoder = p->encoder;
    struct dft_block_header header = {.type = DFT_BLOCK_EVENTS,
                                      .count = p->count,
                                      .stream = batch->stream,
                                      .key = batch->key,
                                      .first = batch->first,
                                      .last = batch->last,
                                      .start = p->start_ns,
                                      .end = p->end_ns > p->previous_end ? p->end_ns : p->previous_end,
                                      .tid = batch->tid,
                                      .part = batch->part};
    const uint8_t *tail = NULL;
    size_t tail_bytes = 0;
    uint32_t *arg_keys = NULL;
    int status = dft_entries_define(p->entries, batch->names, batch->nnames);

    if (!status)
        status = dft_args_begin(encoder, p->entries, batch, p->count, &arg_keys);
    if (!status)
        status = dft_calls_put(&encoder->raw, p->entries, batch->calls, p->call_order, p->ncalls);
    if (status)
        return status;
    dft_names_put(&encoder->raw, p->entries);
    if (p->count) {
        p->gaps[0] = p->first_start_ns - p->start_ns; /* the earliest start is known by now */
        status = put_columns(p, batch, arg_keys);
        if (!status)
            status = dft_times_put(encoder, p->start[DFT_EV_SHAPE], p->nshapes, p->gaps, p->durations, p->count, &tail,
                                   &tail_bytes);
    }
    return status ? status : dft_block_end(encoder, &header, tail, tail_bytes, block);
}

/* Every event of the batch. Returns 0, -EINVAL or -E2BIG. */
static int put_events(struct dft_events_encoder *p, const struct dft_batch *batch)
{
    struct dft_call_state *calls = dft_arena_take(p->encoder, (uint64_t)batch->ncalls * sizeof *calls);

    if (!calls)
        return -E2BIG;
    for (uint32_t i = 0; i < batch->ncalls; i++)
        dft_events_call(&calls[i], i, batch->calls[i].op);
    for (uint32_t i = 0; i < batch->count; i++) {
        const struct dft_event *event = &batch->events[i];

        if (event->call >= batch->ncalls || event->phase > DFT_PHASE_LAST)
            return -EINVAL;
        if (dft_events_put(p, &calls[event->call], event, dft_event_bytes(event, calls[event->call].op)))
            return -E2BIG;
    }
    return 0;
}

long dft_encode_events(struct dft_encoder *encoder, const struct dft_batch *batch, const void **block)
{
    const struct dft_events_bounds bounds = {.events = batch->count,
                                             .calls = batch->ncalls,
                                             .ids = UINT64_C(3) * batch->count + batch->nnames + batch->nargs +
                                                    batch->ncalls};
    struct dft_events_encoder p;
    int status;

    if (batch->count > DFT_BLOCK_EVENTS_MAX || batch->ncalls > DFT_COUNT_MAX)
        return -EINVAL;
    status = dft_events_begin(&p, encoder, &bounds);
    if (!status)
        status = put_events(&p, batch);
    return status ? status : dft_events_end(&p, batch, block);
}
