/* SPDX-License-Identifier: MIT */
/* Owns what several repetitions say about all lines. */
#ifndef DFT_COMPARE_REPEATED_H
#define DFT_COMPARE_REPEATED_H

#include "compare/compare.h"

/* The changes of an item of which several runs know the numbers: medians and
 * ranges; and the verdicts on all items, once they are known. The second returns 0 or -ENOMEM. */
void dft_compare_repeated(const struct dft_comparison *comparison, struct dft_item *item,
                          const struct dft_measured_item *measured);
int dft_compare_test(const struct dft_comparison *comparison);

#endif
