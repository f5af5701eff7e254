/* SPDX-License-Identifier: MIT */
/* Chunks of numbers. */
#ifndef DFT_PARQUET_CHUNK_NUMBERS_H
#define DFT_PARQUET_CHUNK_NUMBERS_H

#include "parquet/file.h"

/* Chunks of each type of column. `chunk` is all zero but for its rows. They return 0 or -errno. */
int dft_parquet_numbers(struct dft_parquet *file, struct dft_parquet_chunk *chunk, const struct dft_cells *cells,
                        enum dft_cell_type type);

#endif
