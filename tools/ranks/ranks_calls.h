/* SPDX-License-Identifier: MIT */
/* Totals of calls over all ranks, and which ranks took longest in each. */
#ifndef DFT_RANKS_CALLS_H
#define DFT_RANKS_CALLS_H

#include "ranks/ranks_job.h"

/* Totals over all ranks, and of each rank: job->calls. */
int dft_ranks_calls(struct dft_ranks_job *job);

#endif
