/* SPDX-License-Identifier: MIT */
/* Reads verified blocks again, with one reader for each thread, and reads lists of blocks in many
 * threads. */
#ifndef DFT_SOURCE_READ_H
#define DFT_SOURCE_READ_H

#include <stddef.h>

#include "format/counter.h"
#include "object/object.h"

struct dft_batch;

/* What one thread needs to read blocks: an open file, a buffer, a decoder. */
struct dft_reader;
struct dft_reader *dft_reader_create(struct dft_source *source); /* NULL: no memory */
void dft_reader_destroy(struct dft_reader *reader);
struct dft_decoder *dft_reader_decoder(struct dft_reader *reader);

/* Reads a block's header and the payload behind the header (header->stored bytes), and verifies the
 * payload again. The payload follows the header in memory. So `(char *)*payload - sizeof *header`
 * is the block as it stands in the file, without padding. Valid until the next read. Returns 0,
 * -ENOMEM, or another -errno after a note (the file has changed since the scan). */
int dft_reader_block(struct dft_reader *reader, const struct dft_block *block, struct dft_block_header *header,
                     const void **payload);

/* Read and decode a block. A block that cannot be decoded is noted. An OVERLAPS block gives only
 * the events behind `covered`, and batch->first moves accordingly. The texts of calls go into the
 * source's names. Valid until the next read. */
int dft_reader_events(struct dft_reader *reader, const struct dft_block *block, struct dft_batch *batch);
int dft_reader_buckets(struct dft_reader *reader, const struct dft_block *block, struct dft_buckets *buckets);
/* The same of a block that is wanted only if `wants` says so, which is called with a batch of the
 * block's calls and names alone. Else the batch has no events. */
int dft_reader_events_if(struct dft_reader *reader, const struct dft_block *block,
                         int (*wants)(void *context, const struct dft_batch *batch), void *context,
                         struct dft_batch *batch);
/* The same for samples; their times are corrected as those of events are. */
int dft_reader_counters(struct dft_reader *reader, const struct dft_block *block, struct dft_counters *counters);

/* Takes one block and its position in the list. The function notes and passes over the errors of
 * one block. A result other than 0 ends all. */
typedef int dft_blocks_fn(void *context, unsigned worker, struct dft_reader *reader, const struct dft_block *block,
                          size_t number);

/* Gives each block of the list to fn, with a reader for each thread. piece: number of blocks that a
 * thread takes at a time (0: chosen here). progress: what the line on stderr says, or NULL. */
int dft_read_blocks(struct dft_source *source, const struct dft_block *const *blocks, size_t count, size_t piece,
                    const char *progress, dft_blocks_fn *fn, void *context);
/* Ends every dft_read_blocks of the source that runs with -ECANCELED, and those that begin until this
 * is called with 0. Any thread. */
void dft_source_stop(struct dft_source *source, int stop);

#endif
