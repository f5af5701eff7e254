/* SPDX-License-Identifier: MIT */
/* Finds slices that cross others; see export_nesting.h. */
#include "export/export_nesting.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/event.h"

/* The slices of a thread that go on, innermost last. */
struct dft_nest {
    uint64_t *ends;
    size_t depth, capacity;
};

static struct dft_nest *nest_of(struct dft_nesting *nesting, const struct dft_event_at *at)
{
    uint64_t *number = dft_map_put(&nesting->threads, dft_map_join(at->process->key, at->tid));

    if (!number)
        return NULL;
    if (!*number) {
        if (DFT_ARRAY_PUSH(nesting->list, nesting->capacity, nesting->count, (struct dft_nest){0}))
            return NULL;
        *number = nesting->count;
    }
    return &nesting->list[*number - 1];
}

void dft_nesting_look(struct dft_nesting *nesting, const struct dft_event_at *at, struct dft_event *event)
{
    uint64_t end_ns = event->start_ns + event->dur_ns;
    struct dft_nest *nest;

    if (event->start_ns < nesting->now_ns)
        for (size_t i = 0; i < nesting->count; i++)
            nesting->list[i].depth = 0;
    nesting->now_ns = event->start_ns;
    if (event->phase != DFT_PHASE_COMPLETE || event->id || event->bits & DFT_BIT_OPEN || !event->dur_ns)
        return;
    nest = nest_of(nesting, at);
    if (!nest)
        return;
    while (nest->depth && nest->ends[nest->depth - 1] <= event->start_ns)
        nest->depth--;
    if (nest->depth && end_ns > nest->ends[nest->depth - 1]) {
        event->bits |= DFT_EXPORT_CROSSES;
        event->id = dft_map_join((uint64_t)at->stream << 32 | at->tid, at->sequence);
        return;
    }
    if (!DFT_ARRAY_RESERVE(nest->ends, nest->capacity, nest->depth + 1))
        nest->ends[nest->depth++] = end_ns;
}

void dft_nesting_fini(struct dft_nesting *nesting)
{
    for (size_t i = 0; i < nesting->count; i++)
        free(nesting->list[i].ends);
    free(nesting->list);
    dft_map_fini(&nesting->threads);
    memset(nesting, 0, sizeof *nesting);
}
