/* SPDX-License-Identifier: MIT */
/* Processes into ranks, and alignment on their first events. */
#ifndef DFT_RANKS_GATHER_H
#define DFT_RANKS_GATHER_H

#include "ranks/ranks_job.h"

void dft_ranks_fini(struct dft_ranks_job *job);

#endif
