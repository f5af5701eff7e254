/* SPDX-License-Identifier: MIT */
/* The search for the first cause over what traces measure. */
#ifndef DFT_RANKS_FIRST_H
#define DFT_RANKS_FIRST_H

#include "ranks/ranks_job.h"

const char *dft_ranks_measure_name(enum dft_ranks_measure measure);

#endif
