/* SPDX-License-Identifier: MIT */
/* The tables of the answer as text. */
#ifndef DFT_RANKS_TABLES_H
#define DFT_RANKS_TABLES_H

#include "ranks/ranks_job.h"

uint64_t dft_ranks_dominant_call(const struct dft_rank *rank); /* the call of I/O that it spent most time in, 0: none */
int dft_ranks_text_slow(const struct dft_ranks_job *job, uint64_t top);
int dft_ranks_text_calls(const struct dft_ranks_job *job, uint64_t top);
const struct dft_source_process *dft_ranks_process(const struct dft_ranks_job *job, uint32_t rank);
const char *dft_ranks_since(char *text, const struct dft_ranks_job *job, uint64_t time);

#endif
