/* Reading many blocks in many threads, each with its place in a list: for the source, and for merge. */
#ifndef DFT_SOURCE_READ_H
#define DFT_SOURCE_READ_H

#include "source/source_inside.h"
#include "base/work.h"

/* One block, and its position in the list. Errors of one block are noted and passed over by the function; what it
 * returns ends all. */
typedef int dft_blocks_fn(void *context, unsigned worker, struct dft_reader *reader, const struct dft_block *block,
                          size_t number);

/* Gives each block of the list to fn, with a reader for each thread. piece: blocks that one thread takes at a time (0:
 * as fits); progress: what the line on stderr says, or NULL. */
int dft_read_blocks(struct dft_source *source, const struct dft_block *const *blocks, size_t count, size_t piece,
                    const char *progress, dft_blocks_fn *fn, void *context);

#endif
