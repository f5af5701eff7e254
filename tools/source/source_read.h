/* SPDX-License-Identifier: MIT */
/* Reading verified blocks again: one reader a thread, and lists of blocks in many threads. */
#ifndef DFT_SOURCE_READ_H
#define DFT_SOURCE_READ_H

#include <stddef.h>

#include "source/source_object.h"

/* One thread's means to read blocks: an open file, a buffer, a decoder. */
struct dft_reader;
struct dft_reader *dft_reader_create(struct dft_source *source); /* NULL: no memory */
void dft_reader_destroy(struct dft_reader *reader);
struct dft_decoder *dft_reader_decoder(struct dft_reader *reader);

/* Reads a block: its header, and the payload behind it (header->stored bytes, verified again). The header is followed
 * by the payload in memory, so `(char *)*payload - sizeof *header` is the block as it stands in the file, without
 * padding. Valid until the next read. Returns 0, -ENOMEM, or another -errno after a note (the file changed meanwhile).
 * */
int dft_reader_block(struct dft_reader *reader, const struct dft_block *block, struct dft_block_header *header,
                     const void **payload);

/* Reads and decodes. A block that cannot be decoded is noted. Of an OVERLAPS block only the events behind `covered` are
 * given, with batch->first moved. The texts of the calls are put into the source's names. Valid until the next read. */
int dft_reader_events(struct dft_reader *reader, const struct dft_block *block, struct dft_batch *batch);
int dft_reader_buckets(struct dft_reader *reader, const struct dft_block *block, struct dft_buckets *buckets);

/* One block, and its position in the list. Errors of one block are noted and passed over by the function; what it
 * returns ends all. */
typedef int dft_blocks_fn(void *context, unsigned worker, struct dft_reader *reader, const struct dft_block *block,
                          size_t number);

/* Gives each block of the list to fn, with a reader for each thread. piece: blocks that one thread takes at a time (0:
 * as fits); progress: what the line on stderr says, or NULL. */
int dft_read_blocks(struct dft_source *source, const struct dft_block *const *blocks, size_t count, size_t piece,
                    const char *progress, dft_blocks_fn *fn, void *context);

#endif
