/* SPDX-License-Identifier: MIT */
/* Different numbers of a chunk, and which of them each row has. */
#ifndef DFT_PARQUET_NUMBERS_H
#define DFT_PARQUET_NUMBERS_H

#include "parquet/bytes.h"

/* Fills `indices`, and `entries` with the different numbers in the order in which they come.
 * least, greatest: of all. Returns how many there are; 0: more than `most`, or no memory.
 * `places`: memory to use. */
uint32_t dft_parquet_index(struct dft_bytes *entries, struct dft_bytes *places, uint32_t *indices,
                           const int64_t *values, uint32_t count, int64_t least, int64_t greatest, uint32_t most);

#endif
