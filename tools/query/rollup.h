/* SPDX-License-Identifier: MIT */
/* The rollup of a source: what all its indexed traces did, by region, call and file, over all
 * processes and all time. Questions that tell none of these apart are answered from it without an
 * event being read.
 *
 * The blocks are BUCKETS blocks with rows of calls. The format has no row of a call on a file, and
 * the file of a row is what such a question is about. As a rollup tells no processes and streams
 * apart, these fields say the rest: a block is of one region (its process key) and one operation
 * (its stream), and the region of a row is its file, 0 without one. Rows by file with the key of a
 * process would be a change of the format, and a block for each file takes ten times the space.
 * Each group has a call row and a histogram row behind it. Call ids are kept, not texts, so an
 * answer from a rollup is the same as from events, to the last digit. */
#ifndef DFT_ROLLUP_H
#define DFT_ROLLUP_H

#include "query/execution.h"

/* Sets execution->rollup where the rollup answers the question; makes the rollup where that is
 * worth it. Returns 0 or -ENOMEM. Collective. */
int dft_rollup_begin(struct dft_execution *execution);
/* Are its traces of a kind that a rollup answers for? */
int dft_rollup_may_be(const struct dft_source *source);

#endif
