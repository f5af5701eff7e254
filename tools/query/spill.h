/* SPDX-License-Identifier: MIT */
/* Groups that do not fit into memory. */
#ifndef DFT_SPILL_H
#define DFT_SPILL_H

#include "query/execution.h"

/* The next groups that were counted into execution->total, on rank 0: all, or a batch of them
 * where they do not fit. Returns 1, 0: all have come, or -errno. Collective. */
int dft_next_groups(struct dft_execution *execution);
/* Merges the totals of all ranks on rank 0. Collective. */
int dft_reduce_total(struct dft_execution *execution);
/* Merges the partial result of a thread into the total. Group numbers change. Returns 0,
 * DFT_TOO_MANY or -errno. */
int dft_merge_worker(struct dft_execution *execution, struct dft_worker *worker);
/* The same, when that is much. */
int dft_merge_partial(struct dft_execution *execution, struct dft_worker *worker);
/* The same, and all ranks are ready for batches. Collective. */
int dft_spill_end(struct dft_execution *execution);
/* Forgets all that was spilled. */
void dft_spill_clear(struct dft_execution *execution);
/* The error of a spill file: notes what to do about it, and returns it. */
int dft_spill_failed(struct dft_execution *execution, int rc);

#endif
