/* SPDX-License-Identifier: MIT */
/* Counting from a rollup (rollup.h). */
#ifndef DFT_ROLLUP_COUNT_H
#define DFT_ROLLUP_COUNT_H

#include "query/execution.h"

/* Counts all that execution->rollup holds. Returns 0, or what dft_merge_partial returns. */
int dft_count_rollup(struct dft_execution *execution, struct dft_worker *worker);

#endif
