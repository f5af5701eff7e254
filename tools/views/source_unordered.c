/* SPDX-License-Identifier: MIT */
/* Events in the order of the files: block after block. */
#include "views/source_unordered.h"

#include <errno.h>
#include <stdlib.h>

#include "format/event.h"
#include "views/filter.h"
#include "object/source_inside.h"
#include "views/source_give.h"
#include "views/source_order.h"
#include "intake/source_read.h"

struct batch_at {
    const struct dft_source *source;
    const struct dft_filter *filter;
    const struct dft_block *block;
    const struct dft_batch *batch;
};

/* Finds the first argument of an event, or of the next event with arguments. */
static uint32_t args_of(const struct dft_batch *batch, size_t event)
{
    uint32_t low = 0, high = batch->nargs;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (batch->args[middle].event < event)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int event_at(const void *from, size_t i, struct dft_event_at *at)
{
    const struct batch_at *here = from;
    const struct dft_batch *batch = here->batch;
    const struct dft_event *event = &batch->events[i];
    uint32_t arg = args_of(batch, i);

    *at = (struct dft_event_at){.event = event,
                                .process = &here->source->processes[here->block->process],
                                .call = batch->calls[event->call].id,
                                .op = batch->calls[event->call].op,
                                .io = batch->calls[event->call].io,
                                .tid = here->block->tid,
                                .stream = here->block->stream,
                                .sequence = batch->first > batch->last ? 0 : dft_batch_number(batch, (uint32_t)i),
                                .args = batch->args ? batch->args + arg : NULL,
                                .nargs = args_of(batch, i + 1) - arg};
    return !here->filter || dft_filter_event(here->filter, event, &batch->calls[event->call]);
}

int dft_source_unordered(struct dft_source *source, const struct dft_filter *filter,
                         int (*emit)(void *context, const struct dft_event_at *at), void *context)
{
    struct dft_reader *reader = dft_reader_create(source);
    int rc = reader ? 0 : -ENOMEM;

    for (size_t i = 0; !rc && i < source->nblocks; i++) {
        const struct dft_block *block = &source->blocks[i];
        struct dft_batch batch;

        if (!dft_source_wants(source, filter, block))
            continue;
        rc = dft_reader_events(reader, block, &batch);
        if (!rc)
            rc = dft_source_emit(source, batch.count, event_at, &(struct batch_at){source, filter, block, &batch}, emit,
                                 context);
        else if (rc != -ENOMEM)
            rc = 0;
    }
    dft_reader_destroy(reader);
    return rc;
}
