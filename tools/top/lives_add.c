/* SPDX-License-Identifier: MIT */
/* Adds up what the copies of live files have and no block does. */
#include "top/lives_add.h"
#include "top/known.h"

#include <errno.h>

#include "aggregator/aggregate.h"
#include "base/array.h"
#include "format/live_read.h"
#include "live/source_life.h"
#include "live/source_tables.h"

struct adding {
    struct dft_top_watch *watch;
    struct dft_top_live *live;
};

static int add_flights(struct adding *adding, const struct dft_batch *batch)
{
    struct dft_top_watch *watch = adding->watch;
    const uint64_t *place = dft_map_find(&watch->by_key, adding->live->key);
    int rc = 0;

    for (uint32_t i = 0; !rc && place && i < batch->count; i++) {
        const struct dft_event *event = &batch->events[i];
        const struct dft_call *call = &batch->calls[event->call];

        rc = DFT_ARRAY_PUSH(watch->flights, watch->flights_capacity, watch->nflights,
                            (struct dft_top_flight){(uint32_t)*place - 1, batch->tid, call->id, event->file,
                                                    event->start_ns, event->fd, call->op});
    }
    return rc;
}

/* Adds those events of a batch that are in no block. */
static int add_batch(struct dft_top_watch *watch, const struct dft_batch *batch, const struct dft_top_stream *stream,
                     struct dft_table *table, struct dft_top_cells *cells, enum dft_row_kind kind)
{
    uint32_t count = 0;
    int rc;

    for (uint32_t i = 0; i < batch->count; i++)
        if (!dft_top_covers(&stream->rows, dft_batch_number(batch, i)) &&
            !dft_top_covers(&stream->events, dft_batch_number(batch, i)))
            watch->order[count++] = i;
    dft_table_clear(table);
    rc = count ? dft_table_add_ordered(table, batch, watch->order, count) : 0;
    return rc ? rc : dft_top_cells_add_table(cells, table, kind);
}

static int emit(void *context, const struct dft_batch *batch)
{
    struct adding *adding = context;
    struct dft_top_watch *watch = adding->watch;
    struct dft_top_process *process = dft_top_process_of(watch, batch->key);
    struct dft_top_stream *stream = process ? dft_top_stream_of(process, batch->stream) : NULL;
    int rc = stream ? dft_top_names(watch, batch->names, batch->nnames, batch->calls, batch->ncalls) : -ENOMEM;

    if (rc)
        return rc;
    process->live_key = adding->live->key;
    if (batch->first > batch->last)
        return adding->live->life == DFT_LIFE_OVER ? 0 : add_flights(adding, batch);
    if (process->key != adding->live->key && !process->pid)
        process->pid = batch->tid; /* a vfork child */
    rc = add_batch(watch, batch, stream, watch->calls, &process->live_calls, DFT_ROW_CALL);
    if (!rc && watch->wants_files)
        rc = add_batch(watch, batch, stream, watch->files, &process->live_files, DFT_ROW_FILE);
    return rc;
}

/* Rows of threads that keep aggregates only, unless they were written meanwhile. */
static int add_rows(void *context, const struct dft_buckets *buckets)
{
    struct adding *adding = context;
    struct dft_top_process *process = dft_top_process_of(adding->watch, buckets->key);
    struct dft_top_stream *stream = process ? dft_top_stream_of(process, buckets->stream) : NULL;
    int rc = stream ? dft_top_names(adding->watch, NULL, 0, buckets->calls, buckets->ncalls) : -ENOMEM;

    if (rc || dft_top_covers(&stream->rows, buckets->last))
        return rc;
    process->live_key = adding->live->key;
    for (uint32_t i = 0; !rc && i < buckets->count; i++)
        if (buckets->rows[i].kind != DFT_ROW_HISTOGRAM)
            rc = dft_top_cells_add(buckets->rows[i].kind == DFT_ROW_FILE ? &process->live_files : &process->live_calls,
                                   &buckets->rows[i]);
    return rc;
}

static void forget(struct dft_top_watch *watch, const struct dft_top_live *live)
{
    size_t kept = 0;

    for (uint32_t i = 0; i < watch->nprocesses; i++)
        if (watch->processes[i].live_key == live->key) {
            dft_top_cells_clear(&watch->processes[i].live_calls);
            dft_top_cells_clear(&watch->processes[i].live_files);
        }
    for (size_t i = 0; i < watch->nflights; i++)
        if (watch->processes[watch->flights[i].process].live_key != live->key)
            watch->flights[kept++] = watch->flights[i];
    watch->nflights = kept;
}

static int add(struct dft_top_watch *watch, struct dft_top_live *live)
{
    struct adding adding = {watch, live};
    struct dft_live_reader reader = {.bytes = live->copy, .length = live->copied, .emit = emit, .context = &adding};
    const struct dft_ring *ring;
    size_t offset = 0;
    uint64_t bad = 0;
    int rc = 0;

    while (!rc && (ring = dft_live_ring(live->copy, live->copied, &offset)))
        rc = dft_live_batches((const struct dft_live *)(const void *)live->copy, ring, &reader);
    return rc ? rc : dft_live_tables(live->copy, live->copied, live->key, add_rows, &adding, &bad);
}

int dft_top_lives_add(struct dft_top_watch *watch)
{
    int rc = 0;

    for (uint32_t i = 0; !rc && i < watch->nlives; i++) {
        struct dft_top_live *live = &watch->lives[i];
        const struct dft_top_process *process = live->key ? dft_top_process_of(watch, live->key) : NULL;

        if (!process || (!live->is_stale && live->blocks == process->blocks && live->had_files == watch->wants_files))
            continue;
        live->is_stale = 0;
        live->blocks = process->blocks;
        live->had_files = (uint8_t)watch->wants_files;
        forget(watch, live);
        if (live->copy)
            rc = add(watch, live);
    }
    return rc;
}
