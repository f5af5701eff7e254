/* SPDX-License-Identifier: MIT */
/* Gives events in global order with bounded memory.
 *
 * Time is cut into windows. For each window, all blocks that may hold events of the window (by
 * their headers) are decoded. The events that start in the window are kept, sorted and passed on. A
 * window's width comes from the window before; the first width comes from the whole. The width is
 * halved while the headers predict too many events. They assume that a block's events are spread
 * evenly. A window that holds too many events after all is halved and decoded again. A block that
 * spans several windows is decoded once for each window. */
#include "views/source_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "base/settings.h"
#include "mpi/comm.h"
#include "base/order.h"
#include "intake/source_exchange.h"
#include "views/source_window.h"
#include "views/filter.h"
#include "object/source_inside.h"
#include "intake/source_names.h"
#include "object/source_notes.h"

struct dft_ordering {
    struct dft_window window;
    int by_process;
    const struct dft_block **all; /* by start; or by process, then start */
    size_t nall;
    const struct dft_block **some; /* the blocks of this pass, by start */
    size_t count;
};

/* --- choosing windows ------------------------------------------------------------------------- */

static int by_start(const void *left, const void *right)
{
    const struct dft_block *a = *(const struct dft_block *const *)left, *b = *(const struct dft_block *const *)right;

    DFT_ORDER(a->start, b->start);
    DFT_ORDER(a, b);
    return 0;
}

static int by_process(const void *left, const void *right)
{
    const struct dft_block *a = *(const struct dft_block *const *)left, *b = *(const struct dft_block *const *)right;

    DFT_ORDER(a->process, b->process);
    return by_start(left, right);
}

static int by_stream(const void *left, const void *right)
{
    const struct dft_block *a = *(const struct dft_block *const *)left, *b = *(const struct dft_block *const *)right;

    DFT_ORDER(a->process, b->process);
    DFT_ORDER(a->tid, b->tid);
    DFT_ORDER(a->stream, b->stream);
    DFT_ORDER(a->first <= a->last, b->first <= b->last); /* blocks in flight count as number 0 */
    DFT_ORDER(a->first, b->first);
    DFT_ORDER(a, b);
    return 0;
}

static uint64_t end_of(const struct dft_block *block)
{
    return block->end > block->start ? block->end : block->start;
}

/* Estimates how many events [from, to] holds, if the events of each block are spread evenly. */
static double estimate(const struct dft_block *const *blocks, size_t count, uint64_t from, uint64_t to)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        const struct dft_block *block = blocks[i];
        uint64_t low = block->start > from ? block->start : from;
        uint64_t high = end_of(block) < to ? end_of(block) : to;

        if (low <= high)
            sum += block->count * (((double)(high - low) + 1) / ((double)(end_of(block) - block->start) + 1));
    }
    return sum;
}

/* Fills the window with blocks that begin in it and do not end before it. *next: the first block
 * that was no candidate yet. */
static void fill_window(struct dft_ordering *timeline, size_t *next)
{
    struct dft_window *window = &timeline->window;
    size_t n = 0;

    for (size_t i = 0; i < window->count; i++)
        if (end_of(window->blocks[i]) >= window->from)
            window->blocks[n++] = window->blocks[i];
    for (; *next < timeline->count && timeline->some[*next]->start <= window->to; ++*next)
        window->blocks[n++] = timeline->some[*next];
    window->count = n;
    qsort(window->blocks, n, sizeof *window->blocks, by_stream);
}

/* Decodes [from, to], and makes `to` smaller until the window fits. */
static int decode_window(struct dft_ordering *timeline, size_t *next)
{
    struct dft_window *window = &timeline->window;

    for (;;) {
        uint64_t width = window->to - window->from;
        int rc;

        fill_window(timeline, next);
        while (width &&
               estimate(window->blocks, window->count, window->from, window->from + width) > (double)window->most)
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

static int emit_windows(struct dft_ordering *timeline, int (*emit)(void *, const struct dft_event_at *), void *context)
{
    struct dft_window *window = &timeline->window;
    uint64_t last = 0, width;
    size_t next = 0;
    double events;
    int rc = 0;

    for (size_t i = 0; i < timeline->count; i++) {
        last = end_of(timeline->some[i]) > last ? end_of(timeline->some[i]) : last;
    }
    if (!timeline->count)
        return 0;
    window->from = timeline->some[0]->start;
    events = estimate(timeline->some, timeline->count, window->from, last);
    width = events <= (double)window->most
                ? last - window->from
                : dft_uint_of((double)(last - window->from) * ((double)(window->most - window->most / 4) / events));
    while (!rc && window->from <= last) {
        size_t kept;

        window->to = last - window->from < width ? last : window->from + width;
        rc = decode_window(timeline, &next);
        kept = atomic_load(&window->kept);
        if (!rc)
            rc = window->sweep ? window->sweep->window(window->sweep->context) : dft_window_emit(window, emit, context);
        dft_window_clear(window);
        width = window->to - window->from + 1;
        if (kept < window->most / 4)
            width = width > UINT64_MAX / 4 ? UINT64_MAX : 2 * width;
        dft_source_progress(window->source, "blocks read in order", next, timeline->count + 1);
        if (window->to == UINT64_MAX)
            break;
        window->from = window->to + 1;
    }
    dft_source_progress(window->source, "", 1, 1);
    return rc;
}

/* --- timelines -------------------------------------------------------------------------------- */

int dft_source_wants(const struct dft_source *source, const struct dft_filter *filter, const struct dft_block *block)
{
    return block->type == DFT_BLOCK_EVENTS && (block->use & DFT_IN_EVENTS) && block->count &&
           (!filter || dft_filter_block(filter, &source->processes[block->process], block));
}

int dft_ordering_create(struct dft_ordering **result, struct dft_source *source, const struct dft_filter *filter,
                        int each_process)
{
    struct dft_ordering *timeline = calloc(1, sizeof *timeline);
    size_t capacity = source->nblocks + 1;

    *result = timeline;
    if (!timeline)
        return -ENOMEM;
    timeline->window.source = source;
    timeline->window.filter = filter;
    timeline->window.most = dft_setting(DFT_SETTING_WINDOW_EVENTS);
    timeline->by_process = each_process;
    timeline->all = malloc(capacity * sizeof(const struct dft_block *));
    timeline->some = malloc(capacity * sizeof(const struct dft_block *));
    timeline->window.blocks = malloc(capacity * sizeof(const struct dft_block *));
    timeline->window.slices = calloc(capacity, sizeof *timeline->window.slices);
    if (!timeline->all || !timeline->some || !timeline->window.blocks || !timeline->window.slices)
        return -ENOMEM;
    for (size_t i = 0; i < source->nblocks; i++)
        if (dft_source_wants(source, filter, &source->blocks[i]))
            timeline->all[timeline->nall++] = &source->blocks[i];
    qsort(timeline->all, timeline->nall, sizeof *timeline->all, each_process ? by_process : by_start);
    return 0;
}

void dft_ordering_outer_first(struct dft_ordering *timeline)
{
    timeline->window.outer_first = 1;
}

void dft_ordering_without_texts(struct dft_ordering *timeline)
{
    timeline->window.without_texts = 1;
}

void dft_ordering_destroy(struct dft_ordering *timeline)
{
    if (!timeline)
        return;
    free(timeline->all);
    free(timeline->some);
    free(timeline->window.blocks);
    free(timeline->window.slices);
    free(timeline);
}

/* Finds where the blocks of a process begin among all blocks. */
static size_t first_of(const struct dft_ordering *timeline, uint32_t process)
{
    size_t low = 0, high = timeline->by_process ? timeline->nall : 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (timeline->all[middle]->process < process)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int dft_ordering_emit(struct dft_ordering *timeline, uint32_t process,
                      int (*emit)(void *context, const struct dft_event_at *at), void *context)
{
    int rc;

    timeline->count = timeline->window.count = 0;
    for (size_t i = first_of(timeline, process); i < timeline->nall; i++) {
        const struct dft_block *block = timeline->all[i];

        if (timeline->by_process && block->process != process)
            break;
        timeline->some[timeline->count++] = block;
    }
    rc = emit_windows(timeline, emit, context);
    dft_window_clear(&timeline->window);
    return rc;
}

static int go_through(struct dft_source *source, const struct dft_filter *filter, const struct dft_sweep *sweep,
                      int (*emit)(void *context, const struct dft_event_at *at), void *context)
{
    struct dft_ordering *timeline;
    int rc = filter && dft_filter_has_names(filter) ? dft_source_names_locate(source) : 0;

    if (rc)
        return rc;
    if (!dft_exchange_serve(source, &rc)) { /* rank 0 has passed on all events */
        rc = dft_comm_agree(rc);
        return rc < 0 ? rc : dft_exchange_notes(source) ? -ENOMEM : rc;
    }
    rc = dft_ordering_create(&timeline, source, filter, 0);
    if (!rc && sweep) {
        timeline->window.sweep = sweep;
        timeline->window.most = dft_setting_or(DFT_SETTING_WINDOW_EVENTS, sweep->most);
    }
    if (!rc)
        rc = dft_ordering_emit(timeline, 0, emit, context);
    dft_ordering_destroy(timeline);
    dft_exchange_served(source);
    rc = dft_comm_agree(rc);
    return rc < 0 ? rc : dft_exchange_notes(source) ? -ENOMEM : rc;
}

int dft_source_ordered(struct dft_source *source, const struct dft_filter *filter,
                       int (*emit)(void *context, const struct dft_event_at *at), void *context)
{
    return go_through(source, filter, NULL, emit, context);
}

int dft_source_sweep(struct dft_source *source, const struct dft_filter *filter, const struct dft_sweep *sweep)
{
    return go_through(source, filter, sweep, NULL, NULL);
}
