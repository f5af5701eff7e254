/* SPDX-License-Identifier: MIT */
/* Coverage within one stream: compares the blocks of one part with each other. The rules stand in
 * source.h. */
#include "judge/source_stream.h"
#include "base/array.h"
#include "object/source_inside.h"
#include "object/source_notes.h"

#include <errno.h>
#include <stdlib.h>

/* An EVENTS block without events carries only names. It has a range all the same: no event is
 * missing there. */
static int is_names(const struct dft_block *block)
{
    return block->type == DFT_BLOCK_EVENTS && !block->count;
}

static int has_range(const struct dft_block *block)
{
    return ((block->type == DFT_BLOCK_EVENTS && block->count) || block->type == DFT_BLOCK_BUCKETS ||
            (block->type == DFT_BLOCK_COUNTERS && block->count)) &&
           block->first <= block->last;
}

static int identical(const struct dft_block *a, const struct dft_block *b)
{
    return a->process == b->process && a->stream == b->stream && a->part == b->part && a->type == b->type &&
           a->first == b->first && a->last == b->last && a->payload_crc == b->payload_crc && a->stored == b->stored &&
           a->start == b->start && a->end == b->end;
}

/* Sets the state of each block of one (process, stream, part, type). Kept blocks are disjoint. A
 * block that ends within what is covered therefore lies within one kept block. */
static void cover_states(struct dft_block **blocks, size_t count)
{
    const struct dft_block *kept = NULL;
    uint64_t covered = 0;

    for (size_t i = 0; i < count; i++) {
        struct dft_block *block = blocks[i];

        if (block->state == DFT_BLOCK_UNKNOWN || block->state == DFT_BLOCK_COVERED)
            continue;
        if (i && identical(blocks[i - 1], block)) {
            block->state = DFT_BLOCK_IDENTICAL;
            continue;
        }
        if (!has_range(block))
            continue;
        if (kept && block->last <= covered) {
            block->state = DFT_BLOCK_COVERED;
            continue;
        }
        if (kept && block->first <= covered) {
            block->state = DFT_BLOCK_OVERLAPS;
            block->covered = covered;
            if (block->type == DFT_BLOCK_BUCKETS)
                continue;
        }
        kept = block;
        covered = block->last;
    }
}

/* Finds where the new part of a kept block begins. */
static uint64_t begin_of(const struct dft_block *block)
{
    return block->state == DFT_BLOCK_OVERLAPS ? block->covered + 1 : block->first;
}

int dft_cover_is_kept(const struct dft_block *block)
{
    return block->type != DFT_BLOCK_COUNTERS && has_range(block) &&
           (block->state == DFT_BLOCK_USED || (block->state == DFT_BLOCK_OVERLAPS && block->type == DFT_BLOCK_EVENTS));
}

/* Does the union of list a cover every range of list b? Both are ascending, and disjoint but for
 * blocks of names. */
static int covers(struct dft_block *const *a, size_t na, struct dft_block *const *b, size_t nb)
{
    size_t i = 0;

    for (size_t k = 0; k < nb; k++) {
        uint64_t at = begin_of(b[k]);

        if (is_names(b[k]))
            continue;
        while (i < na && a[i]->last < at)
            i++;
        for (size_t j = i; at <= b[k]->last; j++) {
            if (j == na || begin_of(a[j]) > at)
                return 0;
            if (a[j]->last == UINT64_MAX)
                break;
            at = a[j]->last < at ? at : a[j]->last + 1;
        }
    }
    return 1;
}

static void mark(struct dft_block **blocks, size_t count, unsigned use)
{
    for (size_t i = 0; i < count; i++)
        blocks[i]->use |= (uint8_t)use;
}

/* The blocks that have events, moved to the front of `blocks`. */
static size_t with_events(struct dft_block **blocks, size_t count)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        if (!is_names(blocks[i]))
            blocks[n++] = blocks[i];
    return n;
}

/* Judges one component: EVENTS and BUCKETS blocks that touch each other. Returns 0 when it is
 * names alone. */
static int component(struct dft_source *source, struct dft_block **events, size_t nevents, struct dft_block **buckets,
                     size_t nbuckets)
{
    int rows_whole = nbuckets && covers(buckets, nbuckets, events, nevents);
    int events_whole = covers(events, nevents, buckets, nbuckets);

    nevents = with_events(events, nevents);
    events_whole = events_whole && nevents;

    if (nevents && nbuckets)
        mark(events, nevents, DFT_IN_BOTH);
    if (events_whole || (nevents && !nbuckets)) {
        mark(events, nevents, DFT_IN_EVENTS);
        mark(buckets, nbuckets, DFT_IN_BOTH);
    } else if (nevents) {
        mark(events, nevents, DFT_IN_EVENTS);
        dft_source_note(
            source, 0, "%s: some aggregates reach beyond the events that could be read: answers from events have fewer",
            source->files[buckets[0]->file].path);
    } else {
        mark(buckets, nbuckets, DFT_IN_EVENTS);
    }
    if (rows_whole || (nbuckets && !events_whole)) {
        mark(buckets, nbuckets, DFT_IN_ROWS);
        if (!rows_whole)
            dft_source_note(
                source, 0,
                "%s: some events reach beyond the aggregates that could be read: answers from buckets have fewer",
                source->files[events[0]->file].path);
    } else {
        mark(events, nevents, DFT_IN_ROWS);
    }
    return nevents + nbuckets > 0;
}

static void span_add(struct dft_covering *covering, uint64_t first, uint64_t last)
{
    if (DFT_ARRAY_PUSH(covering->spans, covering->capacity, covering->nspans, (struct dft_span){first, last}))
        covering->rc = -ENOMEM;
}

/* Judges all components of one part of a stream. `kept` holds its kept EVENTS blocks, then its kept
 * BUCKETS blocks. */
static void components(struct dft_covering *covering, struct dft_block **events, size_t nevents,
                       struct dft_block **buckets, size_t nbuckets)
{
    size_t e = 0, b = 0;

    while (e < nevents || b < nbuckets) {
        size_t e0 = e, b0 = b;
        uint64_t begin, end;

        if (b == nbuckets || (e < nevents && begin_of(events[e]) <= begin_of(buckets[b]))) {
            begin = begin_of(events[e]);
            end = events[e++]->last;
        } else {
            begin = begin_of(buckets[b]);
            end = buckets[b++]->last;
        }
        for (;;) {
            struct dft_block *next = NULL;

            if (e < nevents && begin_of(events[e]) <= end)
                next = events[e++];
            else if (b < nbuckets && begin_of(buckets[b]) <= end)
                next = buckets[b++];
            if (!next)
                break;
            if (next->last > end)
                end = next->last;
        }
        if (component(covering->source, events + e0, e - e0, buckets + b0, b - b0))
            span_add(covering, begin, end);
    }
}

void dft_cover_part(struct dft_covering *covering, struct dft_block **blocks, size_t count)
{
    struct dft_source *source = covering->source;
    struct dft_block **kept = covering->kept;
    size_t nevents = 0, n = 0;

    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && blocks[to]->type == blocks[from]->type;)
            to++;
        cover_states(blocks + from, to - from);
    }
    for (size_t i = 0; i < count; i++) {
        struct dft_block *block = blocks[i];

        if (block->state == DFT_BLOCK_OVERLAPS && block->type != DFT_BLOCK_COUNTERS)
            dft_source_note(source, DFT_BAD_OTHER, "%s: block at %llu: overlaps another one in part; %s",
                            source->files[block->file].path, (unsigned long long)block->offset,
                            block->type == DFT_BLOCK_EVENTS ? "its events up to there were left out"
                                                            : "its aggregates were left out");
        if (dft_cover_is_kept(block) ||
            (is_names(block) && block->state == DFT_BLOCK_USED && block->first <= block->last))
            kept[n++] = block;
        if (!dft_cover_is_kept(block) && block->type == DFT_BLOCK_EVENTS && block->state == DFT_BLOCK_USED)
            block->use = DFT_IN_EVENTS; /* in flight, or only names */
        if (block->type <= DFT_BLOCK_EVENTS)
            nevents = n;
    }
    components(covering, kept, nevents, kept + nevents, n - nevents);
}
