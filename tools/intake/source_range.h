/* SPDX-License-Identifier: MIT */
/* Scans a range of a file, window by window; and keeps blocks of rows of converted traces in memory. */
#ifndef DFT_SOURCE_RANGE_H
#define DFT_SOURCE_RANGE_H

#include "format/decode.h"
#include "intake/source_scan.h"

/* Scans the blocks in [begin, end) of a file. Where the file has become shorter, what is there is scanned. What
 * cannot be read is noted and passed over. Returns 0 or -ENOMEM. */
int dft_scan_range(struct dft_source *source, uint32_t number, int fd, uint64_t begin, uint64_t end,
                   struct dft_decoder *decoder, struct dft_scanned *scanned);
/* Keeps the blocks of rows that were found in a file, if they are few. */
void dft_rows_keep(struct dft_source *source, uint32_t number, int fd, const struct dft_scanned *scanned);
/* A block as it stands in the file, if memory holds the block; else NULL. Not for use with several
 * ranks. */
const char *dft_rows_find(const struct dft_source_file *file, const struct dft_block *block);
void dft_rows_forget(struct dft_source *source, uint32_t number);

#endif
