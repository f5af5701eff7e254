/* SPDX-License-Identifier: MIT */
/* Blocks of converted traces: scanned where they lie in a file, and those of rows kept in memory. */
#ifndef DFT_SOURCE_RANGE_H
#define DFT_SOURCE_RANGE_H

#include "format/decode.h"
#include "source/source_scan.h"

/* The blocks of [begin, end) of a file with converted ones. -errno: it cannot be read, or is shorter. */
int dft_scan_range(struct dft_source *source, uint32_t number, int fd, uint64_t begin, uint64_t end,
                   struct dft_decoder *decoder, struct dft_scanned *scanned);
/* A block as it stands in the file, if it was kept in memory; else NULL. Not with several ranks. */
const char *dft_rows_find(const struct dft_source_file *file, const struct dft_block *block);
void dft_rows_forget(struct dft_source *source, uint32_t number);

#endif
