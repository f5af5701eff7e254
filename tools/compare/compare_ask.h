/* SPDX-License-Identifier: MIT */
/* What a comparison asks each run. */
#ifndef DFT_COMPARE_ASK_H
#define DFT_COMPARE_ASK_H

#include "compare/compare.h"

/* Each run is queried for what all runs can distinguish. */
void dft_runs_prepare(struct dft_compared_run *runs, uint32_t nruns);
/* Answers of one run; `units`: distinguished by process and slice of time. Returns 0 or -ENOMEM. */
int dft_run_ask(struct dft_compared_run *run, int units);
/* Files of all runs, distinguished alike: by pattern, or what is coarser and fits into memory, which
 * is noted then. Collective. */
int dft_runs_ask_files(struct dft_compared_run *runs, uint32_t nruns);
void dft_run_fini(struct dft_compared_run *run);

#endif
