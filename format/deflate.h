/* SPDX-License-Identifier: MIT */
/* The compressor of blocks: libdeflate at its level 1, or zlib at level 1 in a build without
 * libdeflate.
 *
 * Deflating allocates nothing: the compressor lies in memory of the encoder. */
#ifndef DFT_DEFLATE_H
#define DFT_DEFLATE_H

#include <stddef.h>

/* Memory of a compressor. The first use of libdeflate's touches 50 pages, zlib touches as many as
 * the input needs. */
#define DFT_DEFLATE_BYTES (384u << 10)

/* Writes a raw deflate stream of `length` bytes to `out`. Returns the size of the stream, or 0: the
 * stream would not be smaller than `capacity`. workspace: DFT_DEFLATE_BYTES, zeroed
 * before the first use, aligned to 64. */
size_t dft_deflate(void *workspace, const void *bytes, size_t length, void *out, size_t capacity);

#endif
