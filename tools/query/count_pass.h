/* SPDX-License-Identifier: MIT */
/* Counts all groups in one pass over the blocks. */
#ifndef DFT_COUNT_PASS_H
#define DFT_COUNT_PASS_H

#include "query/execution.h"

/* Counts all groups. Returns 0, DFT_TOO_MANY (only where they must stay in memory) or -errno.
 * Collective. */
int dft_count(struct dft_execution *execution);

#endif
