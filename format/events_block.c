/* SPDX-License-Identifier: MIT */
/* EVENTS blocks from batches: the memory that one takes, and its columns in their order. */
#include <errno.h>

#include "args.h"
#include "events_encoder.h"
#include "times.h"

static const uint8_t column_bytes[DFT_EVENTS_ENCODER_COLUMNS] = {
#define DFT_EVENT_COLUMN(name, encodings, bytes) [DFT_EV_##name] = bytes,
#include "events.def"
#undef DFT_EVENT_COLUMN
};

/* Memory for a batch. Returns 0 or -E2BIG. */
static int putting_begin(struct dft_events_encoder *p, struct dft_encoder *encoder, const struct dft_batch *batch)
{
    uint64_t count = batch->count, bound = 3 * count + batch->nnames + batch->nargs + batch->ncalls;
    uint64_t ncalls = batch->ncalls < count ? batch->ncalls : count;

    p->encoder = encoder;
    p->batch = batch;
    p->ncalls = p->nshapes = 0;
    p->gaps = dft_arena_take(encoder, count * 8);
    p->durations = dft_arena_take(encoder, count * 8);
    p->shapes = dft_arena_take(encoder, count * 8);
    p->calls = dft_arena_take(encoder, ncalls * sizeof *p->calls);
    p->call_of = dft_arena_take(encoder, (uint64_t)batch->ncalls * 4);
    p->call_order = dft_arena_take(encoder, ncalls * 4);
    if (!p->gaps || !p->durations || !p->shapes || !p->calls || !p->call_of || !p->call_order)
        return -E2BIG;
    for (unsigned i = 0; i < DFT_EVENTS_ENCODER_COLUMNS; i++) {
        p->start[i] = p->at[i] = dft_arena_take(encoder, count * column_bytes[i]);
        if (!p->start[i])
            return -E2BIG;
    }
    memset(p->call_of, 0xff, (size_t)batch->ncalls * 4);
    dft_idmap_reset(&encoder->shapes, count);
    for (unsigned i = 0; i < DFT_RECENT; i++)
        p->recent[i] = &p->no_file;
    p->no_file = (struct dft_entry){.fd = -1};
    p->block = (struct dft_block_state){.fd = -1};
    return dft_entries_begin(encoder, &p->entries, batch->names, batch->nnames, bound);
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

long dft_encode_events(struct dft_encoder *encoder, const struct dft_batch *batch, const void **block)
{
    struct dft_block_header header = {.type = DFT_BLOCK_EVENTS,
                                      .count = batch->count,
                                      .stream = batch->stream,
                                      .key = batch->key,
                                      .first = batch->first,
                                      .last = batch->last,
                                      .tid = batch->tid,
                                      .part = batch->part};
    const uint8_t *tail = NULL;
    size_t tail_bytes = 0;
    uint32_t *arg_keys = NULL;
    struct dft_events_encoder p;
    int status;

    if (batch->count > DFT_BLOCK_EVENTS_MAX || batch->ncalls > DFT_COUNT_MAX)
        return -EINVAL;
    dft_block_begin(encoder);
    status = putting_begin(&p, encoder, batch);
    if (!status)
        status = dft_put_events(&p);
    if (!status)
        status = dft_args_begin(encoder, &p.entries, batch, &arg_keys);
    if (!status)
        status = dft_calls_put(&encoder->raw, &p.entries, batch->calls, p.call_order, p.ncalls);
    if (status)
        return status;
    dft_names_put(&encoder->raw, &p.entries);
    if (batch->count) {
        put_shapes(&p);
        for (unsigned i = 0; i < DFT_EVENTS_ENCODER_COLUMNS; i++)
            if (p.at[i] > p.start[i])
                dft_raw_column(&encoder->raw, i, i == DFT_EV_STACK ? DFT_ENC_BYTES : DFT_ENC_LEB128, p.start[i],
                               (size_t)(p.at[i] - p.start[i]));
        dft_args_put(&encoder->raw, batch, arg_keys);
        status = batch->numbers && batch->first <= batch->last
                     ? dft_raw_ascending(&encoder->raw, DFT_EV_NUMBER, batch->numbers, batch->count,
                                         batch->last - batch->first)
                     : 0;
    }
    if (batch->count && !status) {
        status = dft_times_put(encoder, p.start[DFT_EV_SHAPE], p.nshapes, p.gaps, p.durations, batch->count, &tail,
                               &tail_bytes);
    }
    header.start = p.start_ns;
    header.end = p.end_ns;
    return status ? status : dft_block_end(encoder, &header, tail, tail_bytes, block);
}
