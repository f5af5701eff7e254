/* SPDX-License-Identifier: MIT */
/* Finds out which rank of a job ends last. */
#ifndef DFT_DFTRUN_RANKS_H
#define DFT_DFTRUN_RANKS_H

#include "dftrun/dftrun.h"

/* Begins before the program, and after all processes that outlive it have been forked. */
void dft_ranks_begin(struct dft_ranks *ranks, const struct dft_launch *launch);
/* Where all ranks write into one directory, one of them learns that it is the last. */
enum dft_ends dft_ranks_end(struct dft_ranks *ranks, const struct dft_launch *launch, const char *directory);

#endif
