/* SPDX-License-Identifier: MIT */
/* Blocks of converted traces: blocks scanned where they lie in a file, and blocks of rows kept in
 * memory. */
#ifndef DFT_SOURCE_RANGE_H
#define DFT_SOURCE_RANGE_H

#include "format/decode.h"
#include "source/source_scan.h"

/* Scans the blocks in [begin, end) of a file with converted blocks. -errno: the file cannot be
 * read, or is shorter. */
int dft_scan_range(struct dft_source *source, uint32_t number, int fd, uint64_t begin, uint64_t end,
                   struct dft_decoder *decoder, struct dft_scanned *scanned);
/* A block as it stands in the file, if memory holds the block; else NULL. Not for use with several
 * ranks. */
const char *dft_rows_find(const struct dft_source_file *file, const struct dft_block *block);
void dft_rows_forget(struct dft_source *source, uint32_t number);

#endif
