/* SPDX-License-Identifier: MIT */
/* The events of a block that belong into the table events. */
#ifndef DFT_TABLES_BLOCK_EVENTS_H
#define DFT_TABLES_BLOCK_EVENTS_H

#include "intake/source_read.h"
#include "tables/reading.h"

/* Gives the events of a batch that count and pass, some at a time: at most `most`, which the
 * function may change. It returns 0 to go on. */
#define DFT_CHUNK_EVENTS 1024u
typedef int dft_chunk_fn(void *context, unsigned worker, const struct dft_event_at *const *events, uint32_t count,
                         uint32_t *most);
int dft_block_events(const struct dft_reading *reading, unsigned worker, const struct dft_block *block,
                     const struct dft_batch *batch, dft_chunk_fn *give, void *context);

/* Decodes a block, or only what tells that no event of it can pass. A block that cannot be read is
 * noted, and has no events. Returns 0 or -ENOMEM. */
int dft_block_decode(const struct dft_reading *reading, struct dft_reader *reader, const struct dft_block *block,
                     struct dft_batch *batch);

/* The blocks whose events may pass, by process and time. *blocks comes from malloc. Returns 0 or
 * -ENOMEM. */
int dft_blocks_of_events(const struct dft_reading *reading, const struct dft_block ***blocks, size_t *count);

#endif
