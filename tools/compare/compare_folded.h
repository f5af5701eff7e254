/* SPDX-License-Identifier: MIT */
/* Which lines of files one run does not know. */
#ifndef DFT_COMPARE_FOLDED_H
#define DFT_COMPARE_FOLDED_H

#include "compare/compare.h"

/* In lines of files, marks as unknown what some runs do not distinguish. Returns 0 or -ENOMEM. */
int dft_compare_folded(const struct dft_comparison *comparison, struct dft_compared_items *files);

#endif
