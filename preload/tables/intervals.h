/* SPDX-License-Identifier: MIT */
/* Intervals of addresses in slots, many of them. Any thread publishes, reads, searches and retires
 * intervals at any time, without locks. maps.c gives the intervals their meaning.
 *
 *   who            may
 *   any thread     publish, walk; change or retire an interval as it has read it
 *                  (one of several threads wins) */
#ifndef DFT_INTERVALS_H
#define DFT_INTERVALS_H

#include "tables/maps.h"

enum dft_interval_state {
    DFT_INTERVAL_FREE,
    DFT_INTERVAL_BUSY,
    DFT_INTERVAL_MAP,
    DFT_INTERVAL_SPLITTING, /* a mapping that one thread is replacing by pieces; still true */
    DFT_INTERVAL_CUT,
    DFT_INTERVAL_SETTLED, /* a cut whose real call has returned */
};

/* A copy of an interval, as it was at one moment. */
struct dft_interval {
    uint32_t slot;
    uint64_t word; /* the slot's word: generation << 3 | state */
    uint64_t number;
    struct dft_mapped_range map;
};

static inline enum dft_interval_state dft_interval_state(const struct dft_interval *interval)
{
    return (enum dft_interval_state)(interval->word & 7);
}

static inline int dft_interval_is_map(const struct dft_interval *interval)
{
    return dft_interval_state(interval) == DFT_INTERVAL_MAP || dft_interval_state(interval) == DFT_INTERVAL_SPLITTING;
}

/* Publishes a new interval. `spare` slots stay free for others. Returns its slot, or -1 when the
 * table is full. */
int dft_interval_publish(const struct dft_mapped_range *map, uint64_t number, enum dft_interval_state state,
                         uint32_t spare);

/* Reads the interval in a slot. Returns 0 when the slot holds none. */
int dft_interval_read(uint32_t slot, struct dft_interval *interval);

/* Both functions return 0 when the interval has changed since it was read. */
int dft_interval_change(struct dft_interval *interval, enum dft_interval_state state);
int dft_interval_retire(struct dft_interval *interval);

/* Walks all intervals that touch a range. The range is not empty. The walk may miss intervals that
 * are published meanwhile. */
struct dft_walk {
    struct dft_range range;
    uint32_t next, end; /* chunks */
    uint64_t bits;      /* slots of the last chunk that are still to be examined */
};
struct dft_walk dft_walk_begin(struct dft_range range);
int dft_walk_next(struct dft_walk *walk, struct dft_interval *interval);

#endif
