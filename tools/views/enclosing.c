/* SPDX-License-Identifier: MIT */
/* Enclosing events: each thread has a stack. Events that are over leave the stack at its top. They
 * leave it everywhere before the stack grows. */
#include "views/enclosing.h"

#include <errno.h>
#include <stdlib.h>

#include "base/order.h"
#include "format/event.h"

struct dft_enclosing_thread {
    struct dft_enclosing_event *events;
    uint32_t count, capacity;
};

struct dft_enclosing_event dft_enclosing_event(const struct dft_event *event, uint64_t call, uint64_t sequence,
                                               const struct dft_block *block)
{
    uint64_t capacity = UINT64_MAX - event->start_ns;

    return (struct dft_enclosing_event){
        .start_ns = event->start_ns,
        .end_ns = event->start_ns + (event->dur_ns < capacity ? event->dur_ns : capacity),
        .call = call,
        .sequence = sequence,
        .process = block->process,
        .tid = block->tid,
        .stream = block->stream,
        .depth = event->depth,
    };
}

int dft_enclosing_compare(const struct dft_enclosing_event *a, const struct dft_enclosing_event *b)
{
    DFT_ORDER(a->start_ns, b->start_ns);
    DFT_ORDER(a->process, b->process);
    DFT_ORDER(a->tid, b->tid);
    DFT_ORDER(b->end_ns, a->end_ns);
    DFT_ORDER(a->depth, b->depth);
    DFT_ORDER(a->stream, b->stream);
    DFT_ORDER(a->sequence, b->sequence);
    return 0;
}

static uint64_t key_of(uint32_t process, uint32_t tid)
{
    return ((uint64_t)process << 32 | tid) + 1;
}

static struct dft_enclosing_thread *thread_of(struct dft_enclosing *enclosing, uint64_t key)
{
    uint64_t *number = dft_map_put(&enclosing->numbers, key);

    if (!number)
        return NULL;
    if (*number)
        return &enclosing->threads[*number - 1];
    if (enclosing->count == enclosing->capacity) {
        uint32_t capacity = enclosing->capacity ? 2 * enclosing->capacity : 16;
        struct dft_enclosing_thread *bigger = reallocarray(enclosing->threads, capacity, sizeof *bigger);

        if (!bigger)
            return NULL;
        enclosing->threads = bigger;
        enclosing->capacity = capacity;
    }
    enclosing->threads[enclosing->count++] = (struct dft_enclosing_thread){0};
    *number = enclosing->count;
    return &enclosing->threads[enclosing->count - 1];
}

/* Makes room for one more event: first drops events that are over, then takes memory. */
static int grow(struct dft_enclosing_thread *thread, uint64_t now_ns)
{
    struct dft_enclosing_event *bigger;
    uint32_t n = 0, capacity;

    for (uint32_t i = 0; i < thread->count; i++)
        if (thread->events[i].end_ns >= now_ns)
            thread->events[n++] = thread->events[i];
    thread->count = n;
    if (2 * n < thread->capacity)
        return 0;
    capacity = thread->capacity ? 2 * thread->capacity : 4;
    bigger = reallocarray(thread->events, capacity, sizeof *bigger);
    if (!bigger)
        return -ENOMEM;
    thread->events = bigger;
    thread->capacity = capacity;
    return 0;
}

int dft_enclosing_put(struct dft_enclosing *enclosing, const struct dft_enclosing_event *event)
{
    struct dft_enclosing_thread *thread = thread_of(enclosing, key_of(event->process, event->tid));

    if (!thread)
        return -ENOMEM;
    while (thread->count && thread->events[thread->count - 1].end_ns < event->start_ns)
        thread->count--;
    if (thread->count == thread->capacity && grow(thread, event->start_ns))
        return -ENOMEM;
    thread->events[thread->count++] = *event;
    return 0;
}

/* Finds the best fit. First choice: depth just above, and not over before the event. Second choice:
 * not over before the event. Last choice: still open. */
int64_t dft_enclosing_find(const struct dft_enclosing *enclosing, const struct dft_event_at *at)
{
    const struct dft_event *event = at->event;
    const uint64_t *number = dft_map_find(&enclosing->numbers, key_of(at->process->number, at->tid));
    const struct dft_enclosing_thread *thread = number && *number ? &enclosing->threads[*number - 1] : NULL;
    int64_t found = -1;
    int best = 0;

    if (!event->region)
        return -1;
    for (uint32_t i = thread ? thread->count : 0; i-- && best < 3;) {
        const struct dft_enclosing_event *around = &thread->events[i];
        int within = around->end_ns - event->start_ns >= event->dur_ns, fit;

        if (around->call != event->region || around->end_ns < event->start_ns)
            continue;
        fit = within && around->depth + 1 == event->depth ? 3 : within ? 2 : 1;
        if (fit > best) {
            best = fit;
            found = (int64_t)around->number;
        }
    }
    return found;
}

void dft_enclosing_clear(struct dft_enclosing *enclosing)
{
    for (uint32_t i = 0; i < enclosing->count; i++)
        free(enclosing->threads[i].events);
    enclosing->count = 0;
    dft_map_clear(&enclosing->numbers);
}

void dft_enclosing_fini(struct dft_enclosing *enclosing)
{
    dft_enclosing_clear(enclosing);
    dft_map_fini(&enclosing->numbers);
    free(enclosing->threads);
    *enclosing = (struct dft_enclosing){0};
}
