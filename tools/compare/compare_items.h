/* SPDX-License-Identifier: MIT */
/* The tables of a comparison. */
#ifndef DFT_COMPARE_ITEMS_H
#define DFT_COMPARE_ITEMS_H

#include "compare/compare.h"

/* The tables; and what is worse beyond fail_over. */
int dft_compare_items(struct dft_comparison *comparison);
int dft_compare_fail(struct dft_comparison *comparison);

#endif
