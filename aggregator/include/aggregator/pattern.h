/* SPDX-License-Identifier: MIT */
/* How a file was accessed: which of its parts, and at which distances. Used by the traced process
 * on the path of a call: no memory, no system calls.
 *
 * Touched parts are exact for what they say: any split of accesses merges to the same bits. Only two distances are
 * kept, with counts that are at most the true ones: approximate. A distance of more than half of the strided accesses
 * on a file is always among them. */
#ifndef DFT_PATTERN_H
#define DFT_PATTERN_H

#include "format/row.h"

/* The least shift with which the byte before `end` (> 0) lies in a part. */
static inline uint32_t dft_touched_shift(uint64_t end)
{
    uint32_t bits = 64u - (uint32_t)__builtin_clzll((end - 1) | 1);

    return bits > 10 ? bits - 10 : 0;
}

/* The same parts where each is 2^shift bytes, for a shift that is not smaller. */
void dft_touched_widen(struct dft_touched *touched, uint32_t shift);

/* An access to [offset, end), of which 0 <= offset. One of no bytes touches nothing. */
void dft_touched_add(struct dft_touched *touched, uint64_t offset, uint64_t end);
void dft_touched_merge(struct dft_touched *into, const struct dft_touched *from);

/* At most so many different bytes were accessed. */
uint64_t dft_touched_bytes(const struct dft_touched *touched);

/* Counts of equal distances are added, and the two with the highest ones kept; of equal ones the
 * shorter distance, and the one forward. */
void dft_strides_merge(struct dft_stride into[2], const struct dft_stride from[2]);

void dft_pattern_merge(struct dft_pattern *into, const struct dft_pattern *from);

#endif
