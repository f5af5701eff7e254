/* SPDX-License-Identifier: MIT */
/* What the files that add events share: which are added, and what those that are alike add. */
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

/* Adds what `count` data events have in common, which moved as many bytes each and have these
 * bits. */
DFT_INLINE void add_alike(struct dft_metrics *sum, uint64_t bytes, uint32_t bits, uint64_t count)
{
    sum->bytes += bytes * count;
    sum->size_min = bytes < sum->size_min ? bytes : sum->size_min;
    sum->size_max = bytes > sum->size_max ? bytes : sum->size_max;
    sum->sequential += bits & DFT_BIT_SEQUENTIAL ? count : 0;
    sum->consecutive += bits & DFT_BIT_CONSECUTIVE ? count : 0;
}

/* One event that is aggregated. Returns 0, -ENOSPC or -ENOMEM: it was not added. */
int dft_table_add_one(struct dft_table *table, const struct dft_event *event, const struct dft_call *call,
                      enum dft_class class);

#endif
