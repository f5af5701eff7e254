/* SPDX-License-Identifier: MIT */
/* Puts pages into the file. */
#ifndef DFT_PARQUET_PAGE_H
#define DFT_PARQUET_PAGE_H

#include "parquet/file.h"

/* Appends to the file. Returns 0 or -errno. */
int dft_parquet_put(struct dft_parquet *file, const void *bytes, size_t length);
/* Puts file->page into the file as a dictionary of so many entries, or as a data page of so many
 * rows, and empties it. `page` has all but where it lies. */
int dft_parquet_dictionary_page(struct dft_parquet *file, struct dft_parquet_chunk *chunk, uint32_t entries);
int dft_parquet_data_page(struct dft_parquet *file, struct dft_parquet_chunk *chunk, struct dft_parquet_page page,
                          uint32_t rows);

#endif
