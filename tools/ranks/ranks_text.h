/* SPDX-License-Identifier: MIT */
/* The answer from traces as text: one screen, what matters first. */
#ifndef DFT_RANKS_TEXT_H
#define DFT_RANKS_TEXT_H

#include "ranks/ranks_job.h"

int dft_ranks_text(const struct dft_ranks_job *job, uint64_t top);
/* "rank 17", or "pid 1234" where no process says its rank; and its host, in parentheses. */
void dft_ranks_put(FILE *out, const struct dft_ranks_job *job, uint32_t rank);
void dft_ranks_put_host(FILE *out, const struct dft_ranks_job *job, uint32_t rank);
void dft_ranks_put_call(FILE *out, const struct dft_ranks_job *job, uint64_t call);

#endif
