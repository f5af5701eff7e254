/* SPDX-License-Identifier: MIT */
/* Compresses pages: zstd, or gzip where libzstd is missing. */
#ifndef DFT_PARQUET_COMPRESS_H
#define DFT_PARQUET_COMPRESS_H

#include "parquet/bytes.h"

/* Parquet's numbers of compressions. */
#define DFT_PARQUET_CODEC_GZIP 2
#define DFT_PARQUET_CODEC_ZSTD 6

#ifdef DFT_HAVE_ZSTD
#include <zstd.h>
#define DFT_PARQUET_CODEC DFT_PARQUET_CODEC_ZSTD
struct dft_parquet_compressor {
    ZSTD_CCtx *context;
};
#else
#include <zlib.h>
#define DFT_PARQUET_CODEC DFT_PARQUET_CODEC_GZIP
struct dft_parquet_compressor {
    z_stream stream;
    int is_open;
};
#endif

/* *compressor is all zero at first. Returns 0 or -ENOMEM. */
int dft_parquet_compressor_init(struct dft_parquet_compressor *compressor);
void dft_parquet_compressor_fini(struct dft_parquet_compressor *compressor);
/* Replaces what `packed` has. Returns 0 or -errno. */
int dft_parquet_compress(struct dft_parquet_compressor *compressor, struct dft_bytes *packed,
                         const struct dft_bytes *bytes);

#endif
