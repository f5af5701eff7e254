/* SPDX-License-Identifier: MIT */
/* How long at least one of several things has gone on: the union of intervals whose starts and ends come in order of
 * time. */
#ifndef DFT_SWEEP_COVER_H
#define DFT_SWEEP_COVER_H

#include <stdint.h>

/* All zero at first. */
struct dft_cover {
    uint64_t sum_ns, since_ns;
    uint32_t level;
};

/* One more begins (by 1), or one ends (by -1). */
static inline void dft_cover_change(struct dft_cover *cover, int by, uint64_t now_ns)
{
    if (!cover->level)
        cover->since_ns = now_ns;
    cover->level += (uint32_t)by;
    if (!cover->level)
        cover->sum_ns += now_ns - cover->since_ns;
}

static inline uint64_t dft_cover_sum(const struct dft_cover *cover, uint64_t now_ns)
{
    return cover->sum_ns + (cover->level ? now_ns - cover->since_ns : 0);
}

#endif
