/* SPDX-License-Identifier: MIT */
/* What the files that add events share: which are added, and sums of those that fall into one
 * row. */
#ifndef DFT_ADD_INSIDE_H
#define DFT_ADD_INSIDE_H

#include "table.h"

#define DFT_INLINE static inline __attribute__((always_inline))

DFT_INLINE int add_is_aggregated(const struct dft_event *event, uint8_t op, enum dft_class class)
{
    if (class == DFT_CLASS_MARK || event->bits & DFT_BIT_OPEN)
        return 0;
    if (event->phase == DFT_PHASE_BEGIN)
        return op == DFT_OP_EXEC || op == DFT_OP_FORK;
    return event->phase == DFT_PHASE_COMPLETE;
}

/* Where a run counts durations and sizes: read once, since the compiler must think that counting
 * changes it. */
struct add_bins {
    struct dft_spine *spine; /* NULL: none are kept */
    struct dft_chunk *chunks;
};

DFT_INLINE void add_bin(struct dft_table *table, const struct add_bins *bins, int which, uint64_t value, uint64_t count)
{
    uint32_t bin = dft_bin_of(value), *chunk;

    if (!bins->spine)
        return;
    chunk = &bins->spine->chunks[which][bin / DFT_CHUNK_BINS];
    if (__builtin_expect(!*chunk, 0))
        *chunk = dft_table_take_chunk(table);
    bins->chunks[*chunk - 1].counts[bin % DFT_CHUNK_BINS] += count;
}

/* Data events of a run that follow each other and move the same number of bytes, which calls in a
 * loop do. */
struct add_same {
    int64_t result;
    uint32_t unit, bits;
    uint64_t bytes, count;
};

/* Sums them up. */
DFT_INLINE void add_same_end(struct dft_table *table, const struct add_bins *bins, struct dft_metrics *sum,
                             const struct add_same *same)
{
    if (!same->count)
        return;
    sum->bytes += same->bytes * same->count;
    sum->size_min = same->bytes < sum->size_min ? same->bytes : sum->size_min;
    sum->size_max = same->bytes > sum->size_max ? same->bytes : sum->size_max;
    sum->sequential += same->bits & DFT_BIT_SEQUENTIAL ? same->count : 0;
    sum->consecutive += same->bits & DFT_BIT_CONSECUTIVE ? same->count : 0;
    add_bin(table, bins, DFT_SIZES, same->bytes, same->count);
}

/* Does the event belong to the run? */
DFT_INLINE int add_is_of_run(const struct dft_recent *recent, const struct dft_event *event, uint32_t call)
{
    uint64_t end_ns = event->start_ns + event->dur_ns;

    return !((event->call ^ call) | (event->region ^ recent->region) | (event->calls ^ 1u) |
             (uint32_t)(event->phase ^ DFT_PHASE_COMPLETE) | event->err | (event->bits & DFT_BIT_OPEN)) &&
           event->start_ns >= recent->from_ns && event->start_ns < recent->to_ns && end_ns <= recent->to_ns &&
           end_ns >= event->start_ns;
}

/* One event that is aggregated. Returns 0, -ENOSPC or -ENOMEM: it was not added. */
int dft_table_add_one(struct dft_table *table, const struct dft_event *event, const struct dft_call *call,
                      enum dft_class class);

#endif
