/* SPDX-License-Identifier: MIT */
/* Sums over all calls of a kind in a rank and bucket. */
#ifndef DFT_RANKS_SUMS_H
#define DFT_RANKS_SUMS_H

#include "ranks/ranks_job.h"

/* The piece's kind is one of the call's, while calls are found. */
void dft_sums_kind(const struct dft_ranks_job *job, struct dft_rank_call *call, const struct dft_piece *piece);
/* Which kinds each rank has, once its calls are a list; returns the most that a rank has. */
uint32_t dft_sums_kinds(struct dft_ranks_job *job);
/* Empty sums for the ranks from `from` on, as many as fit, up to job->sums_to. Returns 0 or
 * -ENOMEM. */
int dft_sums_begin(struct dft_ranks_job *job, uint32_t from);
/* Under the rank's lock. */
void dft_sums_add(struct dft_ranks_job *job, uint32_t rank, uint32_t bucket, const struct dft_piece *piece);
/* What ranks [sums_from, sums_to) tell of what is usual. Returns 0 or -ENOMEM. */
int dft_sums_learn(struct dft_ranks_job *job);
/* What they would usually have taken, into their cells. */
void dft_sums_judge(struct dft_ranks_job *job);

#endif
