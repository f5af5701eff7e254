/* SPDX-License-Identifier: MIT */
/* Each counts its share of the blocks. */
#ifndef DFT_RANKS_SHARE_H
#define DFT_RANKS_SHARE_H

#include "ranks/ranks_job.h"

/* All ranks of dftmerge-mpi know what each has counted: totals, and the widest
 * interval of rows; sums; what was counted over time. Collective. Return an agreed 0 or -ENOMEM. */
int dft_ranks_share_totals(struct dft_ranks_job *job, uint64_t *widest);
int dft_ranks_share_sums(struct dft_ranks_job *job);
int dft_ranks_share_times(struct dft_ranks_job *job);

#endif
