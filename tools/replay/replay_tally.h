/* SPDX-License-Identifier: MIT */
/* Sums over the calls of one class: number, bytes, time, and how long the slow ones took. */
#ifndef DFT_REPLAY_TALLY_H
#define DFT_REPLAY_TALLY_H

#include <stdint.h>

#include "format/facets.h"

#define DFT_TALLY_BINS 512u /* eight to each power of two of ns */

struct dft_replay_tally {
    uint64_t calls, bytes, ns, events;
    uint32_t bins[DFT_TALLY_BINS];
};

/* One for each class of calls (enum dft_io). */
struct dft_replay_tallies {
    struct dft_replay_tally by_io[DFT_IO_COUNT];
};

static inline unsigned dft_tally_bin(uint64_t ns)
{
    unsigned octave = 63u - (unsigned)__builtin_clzll(ns | 1);

    return ns < 8 ? (unsigned)ns : (octave - 2) * 8 + (unsigned)(ns >> (octave - 3) & 7);
}

static inline void dft_tally_add(struct dft_replay_tally *tally, uint64_t calls, uint64_t bytes, uint64_t ns)
{
    tally->calls += calls;
    tally->bytes += bytes;
    tally->ns += ns;
    tally->events++;
    tally->bins[dft_tally_bin(ns)]++;
}

static inline void dft_tallies_merge(struct dft_replay_tallies *into, const struct dft_replay_tallies *from)
{
    for (unsigned i = 0; i < DFT_IO_COUNT; i++) {
        into->by_io[i].calls += from->by_io[i].calls;
        into->by_io[i].bytes += from->by_io[i].bytes;
        into->by_io[i].ns += from->by_io[i].ns;
        into->by_io[i].events += from->by_io[i].events;
        for (unsigned k = 0; k < DFT_TALLY_BINS; k++)
            into->by_io[i].bins[k] += from->by_io[i].bins[k];
    }
}

/* The middle of the bin below which 99 % of the events lie: within 7 %. 0 without events. */
static inline uint64_t dft_tally_p99(const struct dft_replay_tally *tally)
{
    uint64_t wanted = tally->events - tally->events / 100, sum = 0;
    unsigned bin = 0;

    if (!tally->events)
        return 0;
    while (bin < DFT_TALLY_BINS - 1 && (sum += tally->bins[bin]) < wanted)
        bin++;
    return bin < 8 ? bin : ((UINT64_C(8) + bin % 8) << (bin / 8 - 1)) + ((UINT64_C(1) << (bin / 8 - 1)) / 2);
}

#endif
