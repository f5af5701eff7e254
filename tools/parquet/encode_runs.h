/* SPDX-License-Identifier: MIT */
/* Runs of equal numbers, and packed ones between them. */
#ifndef DFT_PARQUET_ENCODE_RUNS_H
#define DFT_PARQUET_ENCODE_RUNS_H

#include "parquet/encode.h"

/* RLE: one run; runs of equal numbers, and packed ones between them. width: 1 to 32, bits of the greatest
 * number at least. */
void dft_parquet_encode_run(struct dft_bytes *page, uint32_t number, uint32_t count, unsigned width);
void dft_parquet_encode_runs(struct dft_bytes *page, const uint32_t *numbers, uint32_t count, unsigned width);
/* Levels of definition, which say which rows have a value: `present` is NULL where all have (`all`
 * 1) or none has (0), else a 1 or 0 for each row. */
void dft_parquet_encode_levels(struct dft_bytes *page, const uint32_t *present, uint32_t count, int all);
/* The width for indices into a dictionary: whole bytes where the compression behind it then sees
 * what repeats. */
unsigned dft_parquet_encode_index_width(uint32_t entries);

#endif
