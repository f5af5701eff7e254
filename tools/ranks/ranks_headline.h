/* SPDX-License-Identifier: MIT */
/* The first lines of the text: which rank, since when, in what and what it costs; the evidence; how sure that is. */
#ifndef DFT_RANKS_HEADLINE_H
#define DFT_RANKS_HEADLINE_H

#include "ranks/ranks_job.h"

/* The first lines: who, since when, in what, what it costs; the evidence; how
 * sure. */
int dft_ranks_headline(const struct dft_ranks_job *job);
void dft_ranks_put_clock(FILE *out, uint64_t ns); /* "13:27:07 UTC" */

#endif
