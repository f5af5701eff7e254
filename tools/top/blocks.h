/* SPDX-License-Identifier: MIT */
/* What one block of a trace adds to the watch. */
#ifndef DFT_TOP_BLOCKS_H
#define DFT_TOP_BLOCKS_H

#include "top/watch.h"

/* Adds what a block says; `offset` is its place in the trace. */
int dft_top_block_read(struct dft_top_watch *watch, struct dft_top_trace *trace, uint64_t offset,
                       const struct dft_block_header *header, const void *payload);
/* Reads the blocks of events that were only noted, for their files. */
int dft_top_left_read(struct dft_top_watch *watch, struct dft_top_trace *trace);
/* Reads the blocks of events that wait for rows. */
int dft_top_waiting_read(struct dft_top_watch *watch);
void dft_top_waiting_fini(struct dft_top_waiting *waiting);

#endif
