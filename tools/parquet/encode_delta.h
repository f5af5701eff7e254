/* SPDX-License-Identifier: MIT */
/* DELTA_BINARY_PACKED. */
#ifndef DFT_PARQUET_ENCODE_DELTA_H
#define DFT_PARQUET_ENCODE_DELTA_H

#include "parquet/encode.h"

/* DELTA_BINARY_PACKED: differences, in blocks of 128 with a least one each, in four widths. */
void dft_parquet_encode_delta(struct dft_bytes *page, const int64_t *values, uint32_t count);
/* Bits that it takes for a value, about: from some of the blocks. count is not 0. */
unsigned dft_parquet_encode_delta_bits(const int64_t *values, uint32_t count);

#endif
