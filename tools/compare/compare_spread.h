/* SPDX-License-Identifier: MIT */
/* The numbers of an item in both runs, and the test whether they differ by more than each run within itself. */
#ifndef DFT_COMPARE_SPREAD_H
#define DFT_COMPARE_SPREAD_H

#include "compare/compare.h"

/* The numbers of an item in one run, by its cells there; and its changes, once
 * those in all runs are known. `scratch` is made by the first call. */
int dft_compare_measure(const struct dft_cell *cells, uint32_t count, struct dft_measured_item *measured,
                        struct dft_spread_scratch **scratch);
int dft_compare_item(const struct dft_comparison *comparison, struct dft_item *item,
                     const struct dft_measured_item *measured, struct dft_spread_scratch **scratch);
/* Do the calls that one side makes more, each at A's cost, make half of the change of time at
 * least? */
int dft_compare_calls_explain(const struct dft_item *item);
void dft_spread_free(struct dft_spread_scratch *scratch);
/* Too little to speak of, whatever a test says. */
int dft_change_is_below_floor(const struct dft_change *change);

#endif
