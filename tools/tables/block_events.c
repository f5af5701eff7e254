/* SPDX-License-Identifier: MIT */
/* The events of a block that belong into the table events. */
#include "tables/block_events.h"

#include <errno.h>
#include <stdlib.h>

#include "query/group_keys.h"
#include "views/source_order.h"

struct chunk {
    uint32_t count, most;
    const struct dft_event_at *pointers[DFT_CHUNK_EVENTS];
    struct dft_event_at list[DFT_CHUNK_EVENTS];
};

static int passes(const struct dft_reading *reading, const struct dft_event *event, const struct dft_call *call)
{
    return dft_event_counts(event, call->op) && (!reading->picks || dft_filter_event(reading->filter, event, call));
}

static void add(struct chunk *chunk, const struct dft_source_process *process, const struct dft_block *block,
                const struct dft_batch *batch, uint32_t i, const struct dft_arg *args, uint32_t nargs)
{
    const struct dft_event *event = &batch->events[i];
    const struct dft_call *call = &batch->calls[event->call];
    struct dft_event_at *at = &chunk->list[chunk->count];

    *at = (struct dft_event_at){.event = event,
                                .process = process,
                                .call = call->id,
                                .op = call->op,
                                .io = call->io,
                                .tid = block->tid,
                                .stream = block->stream,
                                .sequence = dft_batch_number(batch, i),
                                .args = args,
                                .nargs = nargs};
    chunk->pointers[chunk->count++] = at;
}

int dft_block_events(const struct dft_reading *reading, unsigned worker, const struct dft_block *block,
                     const struct dft_batch *batch, dft_chunk_fn *give, void *context)
{
    uint32_t all;
    const struct dft_source_process *process = &dft_source_processes(reading->source, &all)[block->process];
    struct chunk chunk;
    uint32_t arg = 0;
    int rc = 0;

    chunk.count = 0;
    chunk.most = 0;
    rc = give(context, worker, chunk.pointers, 0, &chunk.most);
    for (uint32_t i = 0; i < batch->count && !rc; i++) {
        const struct dft_event *event = &batch->events[i];
        uint32_t first = arg;

        while (arg < batch->nargs && batch->args[arg].event == i)
            arg++;
        if (event->call >= batch->ncalls || !passes(reading, event, &batch->calls[event->call]))
            continue;
        add(&chunk, process, block, batch, i, batch->nargs ? batch->args + first : NULL, arg - first);
        if (chunk.count < chunk.most)
            continue;
        rc = give(context, worker, chunk.pointers, chunk.count, &chunk.most);
        chunk.count = 0;
    }
    return rc || !chunk.count ? rc : give(context, worker, chunk.pointers, chunk.count, &chunk.most);
}

/* May an event of these calls and names pass? */
static int may_pass(void *context, const struct dft_batch *batch)
{
    const struct dft_filter *filter = context;
    int call = !dft_filter_has_calls(filter), file = !dft_filter_has_files(filter);

    for (uint32_t i = 0; i < batch->ncalls && !call; i++)
        call = dft_filter_names(filter, batch->calls[i].id);
    for (uint32_t i = 0; i < batch->nnames && !file; i++)
        file = dft_filter_file(filter, batch->names[i].id);
    return call && file;
}

int dft_block_decode(const struct dft_reading *reading, struct dft_reader *reader, const struct dft_block *block,
                     struct dft_batch *batch)
{
    int asks = dft_filter_has_calls(reading->filter) || dft_filter_has_files(reading->filter);
    int rc = dft_reading_stops(reading);

    if (rc)
        return rc;
    rc = dft_reader_events_if(reader, block, asks ? may_pass : NULL, (void *)reading->filter, batch);
    if (rc)
        batch->count = 0;
    return rc == -ENOMEM ? rc : 0;
}

int dft_blocks_of_events(const struct dft_reading *reading, const struct dft_block ***blocks, size_t *count)
{
    size_t all, n = 0;
    const struct dft_block *list = dft_source_blocks(reading->source, &all);

    *blocks = malloc((all + 1) * sizeof **blocks);
    *count = 0;
    if (!*blocks)
        return -ENOMEM;
    for (size_t i = 0; i < all; i++)
        if (dft_source_wants(reading->source, reading->filter, &list[i]))
            (*blocks)[n++] = &list[i];
    *count = n;
    return 0;
}
