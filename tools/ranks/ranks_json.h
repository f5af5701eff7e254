/* SPDX-License-Identifier: MIT */
/* The answer from traces as JSON, everything. */
#ifndef DFT_RANKS_JSON_H
#define DFT_RANKS_JSON_H

#include "ranks/ranks_job.h"

int dft_ranks_json(const struct dft_ranks_job *job);

#endif
