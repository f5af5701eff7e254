/* SPDX-License-Identifier: MIT */
/* The encodings of Parquet that are used here. Each appends to a page. No memory is a failure of
 * the page. */
#ifndef DFT_PARQUET_ENCODE_H
#define DFT_PARQUET_ENCODE_H

#include "parquet/bytes.h"

/* DELTA_BINARY_PACKED: differences, in blocks of 128 with a least one each, in four widths. */
void dft_parquet_encode_delta(struct dft_bytes *page, const int64_t *values, uint32_t count);
/* Bits that it takes for a value, about: from some of the blocks. count is not 0. */
unsigned dft_parquet_encode_delta_bits(const int64_t *values, uint32_t count);

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
