/* SPDX-License-Identifier: MIT */
/* Counts all groups in one pass over the blocks. */
#ifndef DFT_COUNT_PASS_H
#define DFT_COUNT_PASS_H

#include "query/execution.h"

#define DFT_QUERIES_MAX 4u

/* Counts all groups of some questions, at most DFT_QUERIES_MAX, of one source and filter. Those that
 * take events are counted in one pass, and share the memory of one. Returns 0, DFT_TOO_MANY (only
 * where they must stay in memory) or -errno. Collective. */
int dft_count(struct dft_execution *const *executions, unsigned count);

#endif
