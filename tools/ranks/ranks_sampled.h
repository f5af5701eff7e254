/* SPDX-License-Identifier: MIT */
/* The search for the first cause over samples: memory in use, memory of GPUs, processor time. */
#ifndef DFT_RANKS_SAMPLED_H
#define DFT_RANKS_SAMPLED_H

#include "ranks/ranks_job.h"

const char *dft_ranks_sampled_name(enum dft_ranks_sampled_measure measure);

#endif
