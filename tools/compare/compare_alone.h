/* SPDX-License-Identifier: MIT */
/* Which processes of a run stand out from all of the other run, where the rank-sum test does not see them. */
#ifndef DFT_COMPARE_ALONE_H
#define DFT_COMPARE_ALONE_H

#include "compare/compare.h"

/* Who stands out, by an item's cells and sums. */
void dft_compare_alone(struct dft_item *item);
/* The costliest of those that stand out; NULL: none does. */
const struct dft_process *dft_compare_alone_process(const struct dft_comparison *comparison, enum dft_compared table,
                                                    const struct dft_item *item);

#endif
