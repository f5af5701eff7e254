/* Events of one start in the order that viewers want: those around others first. */
#include "export/export_held.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HELD_MAX 65536u /* with a coarse clock a second's events begin at once: then these at a time are sorted */

static int outermost_first(const void *a, const void *b)
{
    const struct dft_held_event *x = a, *y = b;
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
    if (x->at.sequence != y->at.sequence) /* numbered when they end: the outer one later */
        return x->at.sequence > y->at.sequence ? -1 : 1;
    return 0;
}

void dft_held_flush(void *context)
{
    struct dft_held *held = context;

    if (!held->count)
        return;
    for (size_t i = 0; i < held->nargs; i++)
        if (held->args[i].type == DFT_ARG_STRING && held->args[i].s.length)
            held->args[i].s.bytes = held->texts + (uintptr_t)held->args[i].s.bytes;
    qsort(held->events, held->count, sizeof *held->events, outermost_first);
    for (size_t i = 0; i < held->count; i++) {
        held->events[i].at.event = &held->events[i].event;
        held->events[i].at.args = held->nargs ? held->args + held->events[i].args : NULL;
        held->give(held->context, &held->events[i].at);
    }
    held->count = held->nargs = held->ntexts = 0;
}

static int reserve(void **list, size_t *room, size_t needed, size_t size)
{
    size_t more = needed + needed / 2 + 16;
    void *bigger;

    if (needed <= *room)
        return 0;
    bigger = reallocarray(*list, more, size);
    if (!bigger)
        return -ENOMEM;
    *list = bigger;
    *room = more;
    return 0;
}

static int hold_arguments(struct dft_held *held, const struct dft_event_at *at)
{
    size_t texts = held->ntexts;

    for (uint32_t i = 0; i < at->nargs; i++)
        texts += at->args[i].type == DFT_ARG_STRING ? at->args[i].s.length : 0;
    if (reserve((void **)&held->args, &held->args_room, held->nargs + at->nargs, sizeof(*held->args)) ||
        reserve((void **)&held->texts, &held->texts_room, texts + 1, 1))
        return -ENOMEM;
    for (uint32_t i = 0; i < at->nargs; i++) {
        struct dft_arg *arg = &held->args[held->nargs++];

        *arg = at->args[i];
        if (arg->type != DFT_ARG_STRING)
            continue;
        if (arg->s.length)
            memcpy(held->texts + held->ntexts, arg->s.bytes, arg->s.length);
        arg->s.bytes = (const char *)(uintptr_t)held->ntexts;
        held->ntexts += arg->s.length;
    }
    return 0;
}

int dft_held_add(struct dft_held *held, const struct dft_event_at *at)
{
    struct dft_held_event *one;

    if (held->count && (at->event->start_ns != held->events[0].event.start_ns || held->count == HELD_MAX))
        dft_held_flush(held);
    if (reserve((void **)&held->events, &held->room, held->count + 1, sizeof *held->events))
        return -ENOMEM;
    one = &held->events[held->count];
    *one = (struct dft_held_event){.at = *at, .event = *at->event, .args = held->nargs};
    if (hold_arguments(held, at))
        return -ENOMEM;
    held->count++;
    return 0;
}

void dft_held_fini(struct dft_held *held)
{
    free(held->events);
    free(held->args);
    free(held->texts);
}
