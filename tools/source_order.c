/* Events in global order with bounded memory.
 *
 * Time is cut into windows. Of each, all blocks that may hold events of it (by their headers) are decoded, and the
 * events that start in it are kept, sorted and given. A window's width comes from the one before (the first from the
 * whole), is halved while the headers say that it would hold too much, as if the events of a block were spread evenly,
 * and when it holds too much after all, it is halved and done again. A block that spans several windows is decoded once
 * for each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "source.h"
#include "comm.h"
#include "source_share.h"
#include "source_window.h"

struct ordering {
    struct dft_window window;
    const struct dft_block **all; /* by start */
    size_t count;
};

/* --- choosing windows ----------------------------------------------------------------------------------------------
 * */

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
static double estimate(const struct dft_window *window, uint64_t to)
{
    double sum = 0;

    for (size_t i = 0; i < window->count; i++) {
        const struct dft_block *block = window->blocks[i];
        uint64_t low = block->start > window->from ? block->start : window->from;
        uint64_t high = end_of(block) < to ? end_of(block) : to;

        if (low <= high)
            sum += block->count * (((double)(high - low) + 1) / ((double)(end_of(block) - block->start) + 1));
    }
    return sum;
}

/* Blocks that are not over before the window and begin in it; *next: the first of all that was not a candidate yet. */
static void fill_window(struct ordering *ordering, size_t *next)
{
    struct dft_window *window = &ordering->window;
    size_t n = 0;

    for (size_t i = 0; i < window->count; i++)
        if (end_of(window->blocks[i]) >= window->from)
            window->blocks[n++] = window->blocks[i];
    for (; *next < ordering->count && ordering->all[*next]->start <= window->to; ++*next)
        window->blocks[n++] = ordering->all[*next];
    window->count = n;
    qsort(window->blocks, n, sizeof *window->blocks, by_stream);
}

/* Decodes [from, to], with `to` made smaller until it fits. */
static int decode_window(struct ordering *ordering, size_t *next)
{
    struct dft_window *window = &ordering->window;

    for (;;) {
        uint64_t width = window->to - window->from;
        int rc;

        fill_window(ordering, next);
        while (width && estimate(window, window->from + width) > (double)window->most)
            width /= 2;
        window->to = window->from + width;
        window->single = width == 0;
        rc = dft_window_decode(window);
        if (rc != -E2BIG)
            return rc;
        dft_window_clear(window);
        if (window->sweep)
            window->sweep->clear(window->sweep->context);
        window->to = window->from + width / 2;
    }
}

static int order_windows(struct ordering *ordering, int (*give)(void *, const struct dft_event_at *), void *context)
{
    struct dft_window *window = &ordering->window;
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
    window->from = ordering->all[0]->start;
    width = events <= (double)window->most
                ? last - window->from
                : (uint64_t)((double)(last - window->from) * ((double)(window->most - window->most / 4) / events));
    while (!rc && window->from <= last) {
        size_t kept;

        window->to = last - window->from < width ? last : window->from + width;
        rc = decode_window(ordering, &next);
        kept = atomic_load(&window->kept);
        if (!rc)
            rc = window->sweep ? window->sweep->window(window->sweep->context) : dft_window_give(window, give, context);
        dft_window_clear(window);
        width = window->to - window->from + 1;
        if (kept < window->most / 4)
            width = width > UINT64_MAX / 4 ? UINT64_MAX : 2 * width;
        dft_source_progress(window->source, "blocks read in order", next, ordering->count + 1);
        if (window->to == UINT64_MAX)
            break;
        window->from = window->to + 1;
    }
    dft_source_progress(window->source, "", 1, 1);
    return rc;
}

static int is_wanted(const struct dft_source *source, const struct dft_filter *filter, const struct dft_block *block)
{
    return block->type == DFT_BLOCK_EVENTS && (block->use & DFT_IN_EVENTS) && block->count &&
           (!filter || dft_filter_block(filter, &source->processes[block->process], block));
}

/* DFTMERGE_WINDOW_EVENTS is for the tests, which have no such traces. */
static size_t window_events(size_t most)
{
    const char *text = getenv("DFTMERGE_WINDOW_EVENTS");
    unsigned long long events = text ? strtoull(text, NULL, 10) : 0;

    return events ? events : most;
}

static int go_through(struct dft_source *source, const struct dft_filter *filter, const struct dft_sweep *sweep,
                      int (*give)(void *context, const struct dft_event_at *at), void *context)
{
    struct ordering ordering = {.window = {.source = source,
                                           .filter = filter,
                                           .sweep = sweep,
                                           .most = window_events(sweep ? sweep->most : DFT_WINDOW_EVENTS)}};
    struct dft_window *window = &ordering.window;
    int rc = filter && dft_filter_has_calls(filter) ? dft_source_names_locate(source) : 0;

    if (rc)
        return rc;
    if (!dft_share_serve(source, &rc)) { /* rank 0 has given them all */
        rc = dft_comm_agree(rc);
        return rc < 0 ? rc : dft_share_notes(source) ? -ENOMEM : rc;
    }
    rc = -ENOMEM;
    ordering.all = malloc((source->nblocks + 1) * sizeof *ordering.all);
    window->blocks = malloc((source->nblocks + 1) * sizeof *window->blocks);
    window->slices = calloc(source->nblocks + 1, sizeof *window->slices);
    if (!ordering.all || !window->blocks || !window->slices)
        goto out;
    for (size_t i = 0; i < source->nblocks; i++)
        if (is_wanted(source, filter, &source->blocks[i]))
            ordering.all[ordering.count++] = &source->blocks[i];
    qsort(ordering.all, ordering.count, sizeof *ordering.all, by_start);
    rc = order_windows(&ordering, give, context);
    dft_window_clear(window);
out:
    free(ordering.all);
    free(window->blocks);
    free(window->slices);
    dft_share_served(source);
    rc = dft_comm_agree(rc);
    return rc < 0 ? rc : dft_share_notes(source) ? -ENOMEM : rc;
}

int dft_source_ordered(struct dft_source *source, const struct dft_filter *filter,
                       int (*give)(void *context, const struct dft_event_at *at), void *context)
{
    return go_through(source, filter, NULL, give, context);
}

int dft_source_sweep(struct dft_source *source, const struct dft_filter *filter, const struct dft_sweep *sweep)
{
    return go_through(source, filter, sweep, NULL, NULL);
}

struct batch_at {
    const struct dft_source *source;
    const struct dft_filter *filter;
    const struct dft_block *block;
    const struct dft_batch *batch;
};

/* The first argument of an event, or of the next that has any. */
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
                                .tid = here->block->tid,
                                .stream = here->block->stream,
                                .sequence = batch->first > batch->last ? 0 : dft_batch_number(batch, (uint32_t)i),
                                .args = batch->args + arg,
                                .nargs = args_of(batch, i + 1) - arg};
    return !here->filter || dft_filter_event(here->filter, event, at->call);
}

int dft_source_unordered(struct dft_source *source, const struct dft_filter *filter,
                         int (*give)(void *context, const struct dft_event_at *at), void *context)
{
    struct dft_reader *reader = dft_reader_create(source);
    int rc = reader ? 0 : -ENOMEM;

    if (!rc && filter && dft_filter_has_calls(filter))
        rc = dft_source_names_locate(source);
    for (size_t i = 0; !rc && i < source->nblocks; i++) {
        const struct dft_block *block = &source->blocks[i];
        struct dft_batch batch;

        if (!is_wanted(source, filter, block))
            continue;
        rc = dft_reader_events(reader, block, &batch);
        if (!rc)
            rc = dft_source_give(source, batch.count, event_at, &(struct batch_at){source, filter, block, &batch}, give,
                                 context);
        else if (rc != -ENOMEM)
            rc = 0;
    }
    dft_reader_destroy(reader);
    return rc;
}
