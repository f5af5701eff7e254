/* SPDX-License-Identifier: MIT */
/* How long calls of a kind usually take: a histogram of mean durations for each call and size. */
#ifndef DFT_RANKS_USUAL_H
#define DFT_RANKS_USUAL_H

#include <stdint.h>

#include "base/map.h"

#define DFT_USUAL_BINS 512u /* eight to a power of two */
#define DFT_USUAL_META 63u  /* in place of a size: a metadata call */

struct dft_usual_kind {
    uint64_t call;
    uint32_t size;     /* power of two of the size + 1, at most 62; 0: none; or DFT_USUAL_META */
    uint64_t usual_ns; /* after dft_usual_finish */
    uint64_t bins[DFT_USUAL_BINS];
};

/* One thread. */
struct dft_usual {
    struct dft_usual_kind **kinds;
    uint32_t count, capacity;
    struct dft_map numbers; /* of call and size -> position in kinds + 1 */
};

static inline uint32_t dft_usual_size(uint64_t bytes, uint64_t data)
{
    uint64_t mean = data ? bytes / data : 0;
    uint32_t size = mean ? 64u - (uint32_t)__builtin_clzll(mean) : 0;

    return size < DFT_USUAL_META ? size : DFT_USUAL_META - 1;
}

/* Adds calls that took `ns` together; they count by their mean. Returns 0 or -ENOMEM. */
int dft_usual_add(struct dft_usual *usual, uint64_t call, uint32_t size, uint64_t samples, uint64_t ns);
/* Finds the usual times, after which they can be requested; 0 for a kind that was not met. */
void dft_usual_finish(struct dft_usual *usual);
uint64_t dft_usual_ns(const struct dft_usual *usual, uint64_t call, uint32_t size);
void dft_usual_fini(struct dft_usual *usual);

#endif
