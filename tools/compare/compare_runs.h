/* SPDX-License-Identifier: MIT */
/* The runs of both sides. */
#ifndef DFT_COMPARE_RUNS_H
#define DFT_COMPARE_RUNS_H

#include "compare/compare.h"

/* Opens the runs of both sides, whose options (with their paths) are passed;
 * `parts`: the paths of a side are one run. Returns 0, 1 after it was said on stderr, or -ENOMEM.
 * Collective, as all of these. */
int dft_compared_open(struct dft_comparison *comparison, const struct dft_options sides[2], int parts);
/* Puts the run with the median time in I/O of each side first. Returns 0 or -ENOMEM. */
int dft_compared_order(struct dft_comparison *comparison);
/* The run of a side by its number, from 1. */
const struct dft_compared_run *dft_compared_run_of(const struct dft_comparison *comparison, int side, uint32_t number);

#endif
