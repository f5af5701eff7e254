/* Events in global order with bounded memory.
 *
 * Time is cut into windows. Of each, all blocks that may hold events of it (by their headers) are decoded, in N threads, and the events that start in
 * it are kept. Blocks are taken in the order of process key, tid, stream, first, and events keep that order; then a stable sort by start alone
 * (least significant digit first, 11 bits a pass) gives the whole order. A window's width comes from the one before (the first from
 * the whole), is halved while the headers say that it would hold too much, as if the events of a block were spread evenly, and when it
 * holds too much after all, it is halved and done again. A block that spans several windows is decoded once for each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "source.h"
#include "source_read.h"

#define WINDOW_EVENTS (UINT32_C(1) << 19)
#define WINDOW_BYTES  (UINT64_C(256) << 20) /* of arguments' texts */
#define CHUNK_EVENTS  1024u
#define ARENA_BYTES   (64u << 10)
#define DIGIT_BITS    11
#define DIGITS        (1u << DIGIT_BITS)

struct arena {
    struct arena *next;
    size_t used, capacity;
    char bytes[];
};

/* An event of the window. */
struct kept {
    struct dft_event event;
    const struct dft_arg *args;
    uint64_t call, sequence;
    uint32_t nargs;
    uint32_t block; /* position in the window's list */
    uint8_t op;
};

/* The events of one block in the window. */
struct slice {
    struct kept *events;
    size_t count;
    struct arena *arena;
};

struct order_key {
    uint64_t start; /* from the start of the window */
    uint32_t slice, index;
};

struct ordering {
    struct dft_source *source;
    const struct dft_filter *filter;
    const struct dft_block **all; /* by start */
    size_t count;
    const struct dft_block **window; /* in the order above */
    struct slice *slices;
    size_t nwindow;
    uint64_t from, to; /* of the window: starts in [from, to] */
    _Atomic size_t kept;
    _Atomic uint64_t kept_bytes;
    int single; /* the window is one ns wide: it cannot be halved */
};

static void *arena_get(struct ordering *ordering, struct slice *slice, size_t bytes)
{
    struct arena *arena = slice->arena;
    void *result;

    bytes = (bytes + 7) & ~(size_t)7;
    if (!arena || arena->capacity - arena->used < bytes) {
        size_t capacity = bytes > ARENA_BYTES ? bytes : ARENA_BYTES;

        arena = malloc(sizeof *arena + capacity);
        if (!arena)
            return NULL;
        atomic_fetch_add_explicit(&ordering->kept_bytes, capacity, memory_order_relaxed);
        arena->next = slice->arena;
        arena->used = 0;
        arena->capacity = capacity;
        slice->arena = arena;
    }
    result = arena->bytes + arena->used;
    arena->used += bytes;
    return result;
}

static void slices_free(struct ordering *ordering)
{
    for (size_t i = 0; i < ordering->nwindow; i++) {
        struct arena *arena, *next;

        free(ordering->slices[i].events);
        for (arena = ordering->slices[i].arena; arena; arena = next) {
            next = arena->next;
            free(arena);
        }
        ordering->slices[i] = (struct slice){0};
    }
    atomic_store(&ordering->kept, 0);
    atomic_store(&ordering->kept_bytes, 0);
}

static int keep_args(struct ordering *ordering, struct slice *slice, const struct dft_arg *args, uint32_t count,
                     const struct dft_arg **result)
{
    struct dft_arg *copy;

    *result = NULL;
    if (!count)
        return 0;
    copy = arena_get(ordering, slice, count * sizeof *copy);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, args, count * sizeof *copy);
    for (uint32_t i = 0; i < count; i++) {
        char *text;

        if (copy[i].type != DFT_ARG_STRING || !copy[i].s.length)
            continue;
        text = arena_get(ordering, slice, copy[i].s.length);
        if (!text)
            return -ENOMEM;
        memcpy(text, copy[i].s.bytes, copy[i].s.length);
        copy[i].s.bytes = text;
    }
    *result = copy;
    return 0;
}

static int passes(const struct ordering *ordering, const struct dft_batch *batch, const struct dft_event *event)
{
    if (event->start_ns < ordering->from || event->start_ns > ordering->to)
        return 0;
    return !ordering->filter || dft_filter_event(ordering->filter, event, batch->calls[event->call].id);
}

static int keep_events(struct ordering *ordering, struct slice *slice, uint32_t number, const struct dft_batch *batch)
{
    uint32_t arg = 0;
    size_t capacity = 0;
    int open = batch->first > batch->last;

    for (uint32_t i = 0; i < batch->count; i++) {
        const struct dft_event *event = &batch->events[i];
        const struct dft_arg *args;
        struct kept *kept;
        uint32_t first = arg;

        while (arg < batch->nargs && batch->args[arg].event == i)
            arg++;
        if (!passes(ordering, batch, event))
            continue;
        if (slice->count == capacity) {
            capacity = capacity ? 2 * capacity : batch->count - i < CHUNK_EVENTS ? batch->count - i : CHUNK_EVENTS;
            kept = realloc(slice->events, capacity * sizeof *kept);
            if (!kept)
                return -ENOMEM;
            slice->events = kept;
        }
        if (keep_args(ordering, slice, batch->args + first, arg - first, &args))
            return -ENOMEM;
        slice->events[slice->count++] = (struct kept){.event = *event,
                                                      .args = args,
                                                      .nargs = arg - first,
                                                      .call = batch->calls[event->call].id,
                                                      .op = batch->calls[event->call].op,
                                                      .sequence = open ? 0 : batch->first + i,
                                                      .block = number};
    }
    return 0;
}

static int too_many(struct ordering *ordering)
{
    return !ordering->single && (atomic_load_explicit(&ordering->kept, memory_order_relaxed) > WINDOW_EVENTS ||
                                 atomic_load_explicit(&ordering->kept_bytes, memory_order_relaxed) > WINDOW_BYTES);
}

/* -E2BIG ends the window early: it will be halved. */
static int decode_block(void *context, unsigned worker, struct dft_reader *reader, const struct dft_block *block,
                        size_t number)
{
    struct ordering *ordering = context;
    struct dft_batch batch;
    int rc;

    (void)worker;
    if (too_many(ordering))
        return -E2BIG;
    rc = dft_reader_events(reader, block, &batch);
    if (rc)
        return rc == -ENOMEM ? rc : 0;
    rc = keep_events(ordering, &ordering->slices[number], (uint32_t)number, &batch);
    atomic_fetch_add_explicit(&ordering->kept, ordering->slices[number].count, memory_order_relaxed);
    return rc ? rc : too_many(ordering) ? -E2BIG : 0;
}

/* Stable, by start. Returns where the sorted keys are: `keys` or `other`. */
static struct order_key *sort_keys(struct order_key *keys, struct order_key *other, size_t count, uint64_t width)
{
    for (unsigned shift = 0; shift < 64 && width >> shift; shift += DIGIT_BITS) {
        size_t places[DIGITS] = {0}, sum = 0;
        struct order_key *swap;

        for (size_t i = 0; i < count; i++)
            places[keys[i].start >> shift & (DIGITS - 1)]++;
        for (size_t d = 0; d < DIGITS; d++) {
            size_t n = places[d];

            places[d] = sum;
            sum += n;
        }
        for (size_t i = 0; i < count; i++)
            other[places[keys[i].start >> shift & (DIGITS - 1)]++] = keys[i];
        swap = keys;
        keys = other;
        other = swap;
    }
    return keys;
}

static void fill_at(const struct ordering *ordering, const struct kept *kept, struct dft_event_at *at)
{
    const struct dft_block *block = ordering->window[kept->block];

    *at = (struct dft_event_at){.event = &kept->event,
                                .process = &ordering->source->processes[block->process],
                                .call = kept->call,
                                .op = kept->op,
                                .tid = block->tid,
                                .stream = block->stream,
                                .sequence = kept->sequence,
                                .args = kept->args,
                                .nargs = kept->nargs};
}

static int give_window(struct ordering *ordering, int (*give)(void *, const struct dft_event_at *), void *context)
{
    size_t count = atomic_load(&ordering->kept), n = 0;
    struct order_key *keys = malloc((count + 1) * sizeof *keys), *other = malloc((count + 1) * sizeof *other), *sorted;
    int rc = keys && other ? 0 : -ENOMEM;

    for (size_t s = 0; !rc && s < ordering->nwindow; s++)
        for (size_t i = 0; i < ordering->slices[s].count; i++)
            keys[n++] = (struct order_key){ordering->slices[s].events[i].event.start_ns - ordering->from, (uint32_t)s,
                                           (uint32_t)i};
    if (!rc) {
        sorted = sort_keys(keys, other, n, ordering->to - ordering->from);
        for (size_t i = 0; !rc && i < n; i++) {
            struct dft_event_at at;

            fill_at(ordering, &ordering->slices[sorted[i].slice].events[sorted[i].index], &at);
            rc = give(context, &at);
        }
    }
    free(keys);
    free(other);
    return rc;
}

/* --- choosing windows ---------------------------------------------------------------------------------------------- */

#define ORDER(a, b)                                                                                                    \
    do {                                                                                                               \
        if ((a) != (b))                                                                                                \
            return (a) < (b) ? -1 : 1;                                                                                 \
    } while (0)

static int by_start(const void *left, const void *right)
{
    const struct dft_block *a = *(const struct dft_block *const *)left, *b = *(const struct dft_block *const *)right;

    ORDER(a->start, b->start);
    ORDER(a, b);
    return 0;
}

static int by_stream(const void *left, const void *right)
{
    const struct dft_block *a = *(const struct dft_block *const *)left, *b = *(const struct dft_block *const *)right;

    ORDER(a->process, b->process);
    ORDER(a->tid, b->tid);
    ORDER(a->stream, b->stream);
    ORDER(a->first <= a->last, b->first <= b->last); /* in flight: they count as number 0 */
    ORDER(a->first, b->first);
    ORDER(a, b);
    return 0;
}

static uint64_t end_of(const struct dft_block *block)
{
    return block->end > block->start ? block->end : block->start;
}

/* How many events the window should hold, if those of each block are spread evenly. */
static double estimate(const struct ordering *ordering, uint64_t to)
{
    double sum = 0;

    for (size_t i = 0; i < ordering->nwindow; i++) {
        const struct dft_block *block = ordering->window[i];
        uint64_t low = block->start > ordering->from ? block->start : ordering->from;
        uint64_t high = end_of(block) < to ? end_of(block) : to;

        if (low <= high)
            sum += block->count * (((double)(high - low) + 1) / ((double)(end_of(block) - block->start) + 1));
    }
    return sum;
}

/* Blocks that are not over before the window and begin in it; *next: the first of all that was not a candidate yet. */
static void fill_window(struct ordering *ordering, size_t *next)
{
    size_t n = 0;

    for (size_t i = 0; i < ordering->nwindow; i++)
        if (end_of(ordering->window[i]) >= ordering->from)
            ordering->window[n++] = ordering->window[i];
    for (; *next < ordering->count && ordering->all[*next]->start <= ordering->to; ++*next)
        ordering->window[n++] = ordering->all[*next];
    ordering->nwindow = n;
    qsort(ordering->window, n, sizeof *ordering->window, by_stream);
}

/* Decodes [from, to], with `to` made smaller until it fits. */
static int decode_window(struct ordering *ordering, size_t *next)
{
    for (;;) {
        uint64_t width = ordering->to - ordering->from;
        int rc;

        fill_window(ordering, next);
        while (width && estimate(ordering, ordering->from + width) > WINDOW_EVENTS)
            width /= 2;
        ordering->to = ordering->from + width;
        ordering->single = width == 0;
        rc = dft_read_blocks(ordering->source, ordering->window, ordering->nwindow, 1, NULL, decode_block, ordering);
        if (rc != -E2BIG)
            return rc;
        slices_free(ordering);
        ordering->to = ordering->from + width / 2;
    }
}

static int order_windows(struct ordering *ordering, int (*give)(void *, const struct dft_event_at *), void *context)
{
    uint64_t last = 0, width;
    size_t next = 0;
    double events = 0;
    int rc = 0;

    for (size_t i = 0; i < ordering->count; i++) {
        events += ordering->all[i]->count;
        last = end_of(ordering->all[i]) > last ? end_of(ordering->all[i]) : last;
    }
    if (!ordering->count)
        return 0;
    ordering->from = ordering->all[0]->start;
    width = events <= WINDOW_EVENTS ? last - ordering->from
                                    : (uint64_t)((double)(last - ordering->from) * (WINDOW_EVENTS / 2 / events));
    while (!rc && ordering->from <= last) {
        size_t kept;

        ordering->to = last - ordering->from < width ? last : ordering->from + width;
        rc = decode_window(ordering, &next);
        kept = atomic_load(&ordering->kept);
        if (!rc)
            rc = give_window(ordering, give, context);
        slices_free(ordering);
        width = ordering->to - ordering->from + 1;
        if (kept < WINDOW_EVENTS / 4)
            width = width > UINT64_MAX / 4 ? UINT64_MAX : 2 * width;
        dft_source_progress(ordering->source, "blocks read in order", next, ordering->count + 1);
        if (ordering->to == UINT64_MAX)
            break;
        ordering->from = ordering->to + 1;
    }
    dft_source_progress(ordering->source, "", 1, 1);
    return rc;
}

static int is_wanted(const struct dft_source *source, const struct dft_filter *filter, const struct dft_block *block)
{
    return block->type == DFT_BLOCK_EVENTS && (block->use & DFT_IN_EVENTS) && block->count &&
           (!filter || dft_filter_block(filter, &source->processes[block->process], block));
}

int dft_source_ordered(struct dft_source *source, const struct dft_filter *filter,
                       int (*give)(void *context, const struct dft_event_at *at), void *context)
{
    struct ordering ordering = {.source = source, .filter = filter};
    int rc = -ENOMEM;

    ordering.all = malloc((source->nblocks + 1) * sizeof *ordering.all);
    ordering.window = malloc((source->nblocks + 1) * sizeof *ordering.window);
    ordering.slices = calloc(source->nblocks + 1, sizeof *ordering.slices);
    if (!ordering.all || !ordering.window || !ordering.slices)
        goto out;
    for (size_t i = 0; i < source->nblocks; i++)
        if (is_wanted(source, filter, &source->blocks[i]))
            ordering.all[ordering.count++] = &source->blocks[i];
    qsort(ordering.all, ordering.count, sizeof *ordering.all, by_start);
    rc = order_windows(&ordering, give, context);
    slices_free(&ordering);
out:
    free(ordering.all);
    free(ordering.window);
    free(ordering.slices);
    return rc;
}

static int give_batch(struct dft_source *source, const struct dft_filter *filter, const struct dft_block *block,
                      const struct dft_batch *batch, int (*give)(void *, const struct dft_event_at *), void *context)
{
    int rc = 0, open = batch->first > batch->last;

    for (uint32_t i = 0, arg = 0; !rc && i < batch->count; i++) {
        const struct dft_event *event = &batch->events[i];
        struct dft_event_at at = {.event = event,
                                  .process = &source->processes[block->process],
                                  .call = batch->calls[event->call].id,
                                  .op = batch->calls[event->call].op,
                                  .tid = block->tid,
                                  .stream = block->stream,
                                  .sequence = open ? 0 : batch->first + i,
                                  .args = batch->args + arg};

        while (arg < batch->nargs && batch->args[arg].event == i)
            arg++;
        at.nargs = (uint32_t)(batch->args + arg - at.args);
        if (!filter || dft_filter_event(filter, event, at.call))
            rc = give(context, &at);
    }
    return rc;
}

int dft_source_unordered(struct dft_source *source, const struct dft_filter *filter,
                         int (*give)(void *context, const struct dft_event_at *at), void *context)
{
    struct dft_reader *reader = dft_reader_create(source);
    int rc = reader ? 0 : -ENOMEM;

    for (size_t i = 0; !rc && i < source->nblocks; i++) {
        const struct dft_block *block = &source->blocks[i];
        struct dft_batch batch;

        if (!is_wanted(source, filter, block))
            continue;
        rc = dft_reader_events(reader, block, &batch);
        if (!rc)
            rc = give_batch(source, filter, block, &batch, give, context);
        else if (rc != -ENOMEM)
            rc = 0;
    }
    dft_reader_destroy(reader);
    return rc;
}
