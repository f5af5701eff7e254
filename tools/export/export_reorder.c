/* SPDX-License-Identifier: MIT */
/* Puts events of one start into the order that viewers want: enclosing events first. */
#include "export/export_reorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* with a coarse clock, a second's events begin at once; this many are then sorted together */
#define REORDER_MAX 65536u

static int outermost_first(const void *a, const void *b)
{
    const struct dft_reorder_event *x = a, *y = b;
    uint64_t x_end = x->event.start_ns + x->event.dur_ns, y_end = y->event.start_ns + y->event.dur_ns;

    if (x->event.start_ns != y->event.start_ns)
        return x->event.start_ns < y->event.start_ns ? -1 : 1;
    if (x->at.process->number != y->at.process->number)
        return x->at.process->number < y->at.process->number ? -1 : 1;
    if (x->at.tid != y->at.tid)
        return x->at.tid < y->at.tid ? -1 : 1;
    if (x_end != y_end)
        return x_end > y_end ? -1 : 1;
    if (x->event.depth != y->event.depth)
        return x->event.depth < y->event.depth ? -1 : 1;
    /* events are numbered when they end: the outer event ends later */
    if (x->at.sequence != y->at.sequence)
        return x->at.sequence > y->at.sequence ? -1 : 1;
    return 0;
}

void dft_reorder_flush(void *context)
{
    struct dft_reorder *buffer = context;

    if (!buffer->count)
        return;
    for (size_t i = 0; i < buffer->nargs; i++)
        if (buffer->args[i].type == DFT_ARG_STRING && buffer->args[i].s.length)
            buffer->args[i].s.bytes = buffer->texts + (uintptr_t)buffer->args[i].s.bytes;
    qsort(buffer->events, buffer->count, sizeof *buffer->events, outermost_first);
    for (size_t i = 0; i < buffer->count; i++) {
        buffer->events[i].at.event = &buffer->events[i].event;
        dft_nesting_look(&buffer->nesting, &buffer->events[i].at, &buffer->events[i].event);
        buffer->events[i].at.args = buffer->nargs ? buffer->args + buffer->events[i].args : NULL;
        buffer->emit(buffer->context, &buffer->events[i].at);
    }
    buffer->count = buffer->nargs = buffer->ntexts = 0;
}

static int reserve(void **list, size_t *capacity, size_t needed, size_t size)
{
    size_t more = needed + needed / 2 + 16;
    void *bigger;

    if (needed <= *capacity)
        return 0;
    bigger = reallocarray(*list, more, size);
    if (!bigger)
        return -ENOMEM;
    *list = bigger;
    *capacity = more;
    return 0;
}

static int copy_arguments(struct dft_reorder *buffer, const struct dft_event_at *at)
{
    size_t texts = buffer->ntexts;

    for (uint32_t i = 0; i < at->nargs; i++)
        texts += at->args[i].type == DFT_ARG_STRING ? at->args[i].s.length : 0;
    if (reserve((void **)&buffer->args, &buffer->args_capacity, buffer->nargs + at->nargs, sizeof(*buffer->args)) ||
        reserve((void **)&buffer->texts, &buffer->texts_capacity, texts + 1, 1))
        return -ENOMEM;
    for (uint32_t i = 0; i < at->nargs; i++) {
        struct dft_arg *arg = &buffer->args[buffer->nargs++];

        *arg = at->args[i];
        if (arg->type != DFT_ARG_STRING)
            continue;
        if (arg->s.length)
            memcpy(buffer->texts + buffer->ntexts, arg->s.bytes, arg->s.length);
        arg->s.bytes = (const char *)(uintptr_t)buffer->ntexts;
        buffer->ntexts += arg->s.length;
    }
    return 0;
}

int dft_reorder_add(struct dft_reorder *buffer, const struct dft_event_at *at)
{
    struct dft_reorder_event *one;

    if (buffer->count && (at->event->start_ns != buffer->events[0].event.start_ns || buffer->count == REORDER_MAX))
        dft_reorder_flush(buffer);
    if (reserve((void **)&buffer->events, &buffer->capacity, buffer->count + 1, sizeof *buffer->events))
        return -ENOMEM;
    one = &buffer->events[buffer->count];
    *one = (struct dft_reorder_event){.at = *at, .event = *at->event, .args = buffer->nargs};
    if (copy_arguments(buffer, at))
        return -ENOMEM;
    buffer->count++;
    return 0;
}

void dft_reorder_fini(struct dft_reorder *buffer)
{
    free(buffer->events);
    free(buffer->args);
    free(buffer->texts);
    dft_nesting_fini(&buffer->nesting);
}
