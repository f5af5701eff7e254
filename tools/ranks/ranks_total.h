/* SPDX-License-Identifier: MIT */
/* The totals of each rank, by call. */
#ifndef DFT_RANKS_TOTAL_H
#define DFT_RANKS_TOTAL_H

#include "ranks/ranks_job.h"

/* Add a rank's numbers for a call to its table; what one piece adds. Return 0 or
 * -ENOMEM. */
int dft_rank_total(const struct dft_ranks_job *job, struct dft_rank *rank, const struct dft_piece *piece);
int dft_rank_add(struct dft_rank *rank, const struct dft_rank_call *more);

#endif
