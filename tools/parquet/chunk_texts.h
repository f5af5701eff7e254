/* SPDX-License-Identifier: MIT */
/* Chunks of texts. */
#ifndef DFT_PARQUET_CHUNK_TEXTS_H
#define DFT_PARQUET_CHUNK_TEXTS_H

#include "parquet/file.h"

int dft_parquet_texts(struct dft_parquet *file, struct dft_parquet_chunk *chunk, const struct dft_cells *cells);

#endif
