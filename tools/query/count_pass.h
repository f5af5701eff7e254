/* SPDX-License-Identifier: MIT */
/* Counts all groups in one pass over the blocks. */
#ifndef DFT_COUNT_PASS_H
#define DFT_COUNT_PASS_H

#include "query/execution.h"

#define DFT_QUERIES_MAX 24u

/* Counts all groups of some queries, at most DFT_QUERIES_MAX, of one source and filter. They are
 * counted in one pass, and share the memory of one; only those that rows turn out not to answer
 * take another. Returns 0, DFT_TOO_MANY (only where they must stay in memory) or -errno.
 * Collective. */
int dft_count(struct dft_execution *const *executions, unsigned count);

#endif
