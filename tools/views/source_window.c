/* SPDX-License-Identifier: MIT */
/* One window of time: decodes its blocks in N threads and sorts its events.
 *
 * Blocks come in the order of process key, tid, stream, first, and events keep that order. A stable
 * sort by start alone therefore gives the whole order. */
#include "views/source_window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/timed.h"
#include "format/event.h"
#include "views/enclosing.h"
#include "views/filter.h"
#include "views/source_give.h"
#include "object/source_inside.h"
#include "intake/source_read.h"

#define CHUNK_EVENTS 1024u
#define ARENA_BYTES  (64u << 10)

struct dft_arena {
    struct dft_arena *next;
    size_t used, capacity;
    char bytes[];
};

/* An event of the window. */
struct dft_window_event {
    struct dft_event event;
    const struct dft_arg *args;
    uint64_t call, sequence;
    uint32_t nargs;
    uint32_t block; /* position of the block in the window's list */
    uint8_t op, io;
};

static void *arena_get(struct dft_window *window, struct dft_slice *slice, size_t bytes)
{
    struct dft_arena *arena = slice->arena;
    void *result;

    bytes = (bytes + 7) & ~(size_t)7;
    if (!arena || arena->capacity - arena->used < bytes) {
        size_t capacity = bytes > ARENA_BYTES ? bytes : ARENA_BYTES;

        arena = malloc(sizeof *arena + capacity);
        if (!arena)
            return NULL;
        atomic_fetch_add_explicit(&window->kept_bytes, capacity, memory_order_relaxed);
        arena->next = slice->arena;
        arena->used = 0;
        arena->capacity = capacity;
        slice->arena = arena;
    }
    result = arena->bytes + arena->used;
    arena->used += bytes;
    return result;
}

void dft_window_clear(struct dft_window *window)
{
    for (size_t i = 0; !window->sweep && i < window->count; i++) {
        struct dft_arena *arena, *next;

        free(window->slices[i].events);
        for (arena = window->slices[i].arena; arena; arena = next) {
            next = arena->next;
            free(arena);
        }
        window->slices[i] = (struct dft_slice){0};
    }
    atomic_store(&window->kept, 0);
    atomic_store(&window->kept_bytes, 0);
}

static int keep_args(struct dft_window *window, struct dft_slice *slice, const struct dft_arg *args, uint32_t count,
                     const struct dft_arg **result)
{
    struct dft_arg *copy;

    *result = NULL;
    if (!count)
        return 0;
    copy = arena_get(window, slice, count * sizeof *copy);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, args, count * sizeof *copy);
    for (uint32_t i = 0; i < count; i++) {
        char *text;

        if (copy[i].type != DFT_ARG_STRING || !copy[i].s.length)
            continue;
        text = arena_get(window, slice, copy[i].s.length);
        if (!text)
            return -ENOMEM;
        memcpy(text, copy[i].s.bytes, copy[i].s.length);
        copy[i].s.bytes = text;
    }
    *result = copy;
    return 0;
}

static int passes(const struct dft_window *window, const struct dft_batch *batch, const struct dft_event *event)
{
    if (event->start_ns < window->from || event->start_ns > window->to)
        return 0;
    return !window->filter || dft_filter_event(window->filter, event, &batch->calls[event->call]);
}

static int keep_events(struct dft_window *window, struct dft_slice *slice, uint32_t number,
                       const struct dft_batch *batch)
{
    uint32_t arg = 0;
    size_t capacity = 0;
    int open = batch->first > batch->last;

    for (uint32_t i = 0; i < batch->count; i++) {
        const struct dft_event *event = &batch->events[i];
        const struct dft_arg *args;
        struct dft_window_event *kept;
        uint32_t first = arg;

        while (arg < batch->nargs && batch->args[arg].event == i)
            arg++;
        if (!passes(window, batch, event))
            continue;
        if (slice->count == capacity) {
            capacity = capacity ? 2 * capacity : batch->count - i < CHUNK_EVENTS ? batch->count - i : CHUNK_EVENTS;
            kept = realloc(slice->events, capacity * sizeof *kept);
            if (!kept)
                return -ENOMEM;
            slice->events = kept;
        }
        if (keep_args(window, slice, batch->nargs ? batch->args + first : NULL, arg - first, &args))
            return -ENOMEM;
        slice->events[slice->count++] = (struct dft_window_event){.event = *event,
                                                                  .args = args,
                                                                  .nargs = arg - first,
                                                                  .call = batch->calls[event->call].id,
                                                                  .op = batch->calls[event->call].op,
                                                                  .io = batch->calls[event->call].io,
                                                                  .sequence = open ? 0 : dft_batch_number(batch, i),
                                                                  .block = number};
    }
    return 0;
}

static int too_many(struct dft_window *window)
{
    return !window->single && (atomic_load_explicit(&window->kept, memory_order_relaxed) > window->most ||
                               atomic_load_explicit(&window->kept_bytes, memory_order_relaxed) > DFT_WINDOW_BYTES);
}

/* Decodes a block into the window. -E2BIG ends the window early, and the caller halves the
 * window. */
static int decode_block(void *context, unsigned worker, struct dft_reader *reader, const struct dft_block *block,
                        size_t number)
{
    struct dft_window *window = context;
    const struct dft_sweep *sweep = window->sweep;
    struct dft_batch batch;
    int64_t kept;
    int rc;

    if (too_many(window))
        return -E2BIG;
    rc = dft_reader_events(reader, block, &batch);
    if (rc)
        return rc == -ENOMEM ? rc : 0;
    if (sweep) {
        kept = sweep->keep(sweep->context, worker, &window->source->processes[block->process], &batch, window->from,
                           window->to);
        rc = kept < 0 ? (int)kept : 0;
    } else {
        rc = keep_events(window, &window->slices[number], (uint32_t)number, &batch);
        kept = (int64_t)window->slices[number].count;
    }
    if (rc)
        return rc;
    atomic_fetch_add_explicit(&window->kept, (size_t)kept, memory_order_relaxed);
    return too_many(window) ? -E2BIG : 0;
}

int dft_window_decode(struct dft_window *window)
{
    return dft_read_blocks(window->source, window->blocks, window->count, 1, NULL, decode_block, window);
}

/* Compares events that start together. The order of their blocks decides, unless these are parts of
 * the same range. */
static int by_place(const void *left, const void *right, void *context)
{
    const struct dft_window *window = context;
    const struct dft_timed *a = left, *b = right;
    const struct dft_block *x = window->blocks[a->group], *y = window->blocks[b->group];
    uint64_t i = window->slices[a->group].events[a->item].sequence,
             k = window->slices[b->group].events[b->item].sequence;

    if (x->process == y->process && x->tid == y->tid && x->stream == y->stream && i != k)
        return i < k ? -1 : 1;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return a->item < b->item ? -1 : a->item > b->item;
}

/* Sorts events of parts that start together. Blocks of parts lie beside each other, so such events
 * come out of order. */
static void sort_parts(struct dft_window *window, struct dft_timed *keys, size_t count)
{
    for (size_t from = 0, to; from < count; from = to) {
        int parts = window->blocks[keys[from].group]->part != 0;

        for (to = from + 1; to < count && keys[to].time == keys[from].time; to++)
            parts |= window->blocks[keys[to].group]->part != 0;
        if (parts && to - from > 1)
            qsort_r(keys + from, to - from, sizeof *keys, by_place, window);
    }
}

static int by_enclosing(const void *left, const void *right, void *context)
{
    const struct dft_window *window = context;
    struct dft_enclosing_event places[2];

    for (int i = 0; i < 2; i++) {
        const struct dft_timed *key = i ? right : left;
        const struct dft_window_event *kept = &window->slices[key->group].events[key->item];

        places[i] = dft_enclosing_event(&kept->event, kept->call, kept->sequence, window->blocks[kept->block]);
    }
    return dft_enclosing_compare(&places[0], &places[1]);
}

static void sort_outer_first(struct dft_window *window, struct dft_timed *keys, size_t count)
{
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && keys[to].time == keys[from].time; to++)
            ;
        if (to - from > 1)
            qsort_r(keys + from, to - from, sizeof *keys, by_enclosing, window);
    }
}

struct in_order {
    const struct dft_window *window;
    struct dft_timed *sorted;
};

static int event_at(const void *from, size_t i, struct dft_event_at *at)
{
    const struct in_order *in_order = from;
    const struct dft_window *window = in_order->window;
    const struct dft_window_event *kept = &window->slices[in_order->sorted[i].group].events[in_order->sorted[i].item];
    const struct dft_block *block = window->blocks[kept->block];

    *at = (struct dft_event_at){.event = &kept->event,
                                .process = &window->source->processes[block->process],
                                .call = kept->call,
                                .op = kept->op,
                                .io = kept->io,
                                .tid = block->tid,
                                .stream = block->stream,
                                .sequence = kept->sequence,
                                .args = kept->args,
                                .nargs = kept->nargs};
    return 1;
}

int dft_window_emit(struct dft_window *window, int (*emit)(void *context, const struct dft_event_at *at), void *context)
{
    size_t count = atomic_load(&window->kept), n = 0;
    struct dft_timed *keys = malloc((count + 1) * sizeof *keys), *other = malloc((count + 1) * sizeof *other);
    int rc = keys && other ? 0 : -ENOMEM;

    for (size_t s = 0; !rc && s < window->count; s++)
        for (size_t i = 0; i < window->slices[s].count; i++)
            keys[n++] =
                (struct dft_timed){window->slices[s].events[i].event.start_ns - window->from, (uint32_t)s, (uint32_t)i};
    if (!rc) {
        struct in_order in_order = {window, dft_timed_sort(keys, other, n, 0, window->to - window->from)};

        if (window->outer_first)
            sort_outer_first(window, in_order.sorted, n);
        else
            sort_parts(window, in_order.sorted, n);
        rc = window->without_texts ? dft_source_emit_bare(n, event_at, &in_order, emit, context)
                                   : dft_source_emit(window->source, n, event_at, &in_order, emit, context);
    }
    free(keys);
    free(other);
    return rc;
}
