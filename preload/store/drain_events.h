/* SPDX-License-Identifier: MIT */
/* Events and rows of a drain: records of a ring become columns of a block, and rows that wait for
 * those of later drains. Runs on the context's stack. */
#ifndef DFT_DRAIN_EVENTS_H
#define DFT_DRAIN_EVENTS_H

#include "store/context.h"

/* Takes the records from *sequence on, up to `end`, that may stand in one block, and stages the
 * block. Sets *sequence to where to go on. */
void dft_drain_block(struct dft_context *context, const struct dft_ring *ring, uint64_t *sequence, uint64_t end);

/* Stages the events of a batch and their rows, each as blocks of their own. */
void dft_drain_batch(struct dft_context *context, struct dft_batch *batch);

/* Stages the rows that wait as one block. */
void dft_drain_rows(struct dft_context *context);

/* Nonzero: something could not be written at the end and stays in the live file. */
extern int dft_drain_kept; /* atomic */

#endif
