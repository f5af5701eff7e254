/* SPDX-License-Identifier: MIT */
/* Groups of ranks. */
#ifndef DFT_COMPARE_RANKS_H
#define DFT_COMPARE_RANKS_H

#include "compare/compare.h"

/* Ranks that do about as much are put together. */
int dft_compare_ranks(struct dft_comparison *comparison);

#endif
