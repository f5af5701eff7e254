/* SPDX-License-Identifier: MIT */
/* Those who are blamed, in words: since when, who came then, and what each lost. */
#ifndef DFT_RANKS_BLAMED_H
#define DFT_RANKS_BLAMED_H

#include "ranks/ranks_job.h"

const char *dft_ranks_word(const struct dft_ranks_job *job); /* "rank", or "process" */
/* "since the start", "since +2.17 s", or "from +15.0 s to +35.0 s"; `to` 0: to the end. */
void dft_ranks_put_span(FILE *out, const struct dft_ranks_job *job, uint64_t from, uint64_t to);
/* When the bad time is over; 0: not before the rank is. */
uint64_t dft_ranks_until(const struct dft_ranks_job *job, const struct dft_blamed *blamed);
/* "since +2.17 s", "from +1.00 s to +2.00 s, then rank 5 (node1) since +2.00 s" of those blamed. */
void dft_ranks_put_when(FILE *out, const struct dft_ranks_job *job, const struct dft_measured *measured);
/* "it lost 3.09 s", "rank 2 lost 3.09 s, rank 5 2.11 s" */
void dft_ranks_put_lost(FILE *out, const struct dft_ranks_job *job, const struct dft_measured *measured);

#endif
