/* SPDX-License-Identifier: MIT */
/* A range of numbers, or of times, from its first to its last. */
#ifndef DFT_SOURCE_SPAN_H
#define DFT_SOURCE_SPAN_H

#include <stdint.h>

struct dft_span {
    uint64_t first, last;
};

/* For qsort. */
static inline int dft_span_by_first(const void *left, const void *right)
{
    const struct dft_span *a = left, *b = right;

    return a->first != b->first ? (a->first < b->first ? -1 : 1) : a->last < b->last ? -1 : a->last > b->last;
}

#endif
