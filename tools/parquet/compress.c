/* SPDX-License-Identifier: MIT */
/* Compression of pages; see compress.h. */
#include "parquet/compress.h"

#include <errno.h>

#define LEVEL 1

#ifdef DFT_HAVE_ZSTD

int dft_parquet_compressor_init(struct dft_parquet_compressor *compressor)
{
    compressor->context = ZSTD_createCCtx();
    if (!compressor->context)
        return -ENOMEM;
    ZSTD_CCtx_setParameter(compressor->context, ZSTD_c_compressionLevel, LEVEL);
    return 0;
}

void dft_parquet_compressor_fini(struct dft_parquet_compressor *compressor)
{
    ZSTD_freeCCtx(compressor->context);
    compressor->context = NULL;
}

int dft_parquet_compress(struct dft_parquet_compressor *compressor, struct dft_bytes *packed,
                         const struct dft_bytes *bytes)
{
    size_t length;

    packed->length = 0;
    if (!dft_bytes_room(packed, ZSTD_compressBound(bytes->length)))
        return -ENOMEM;
    length = ZSTD_compress2(compressor->context, packed->bytes, packed->capacity, bytes->bytes, bytes->length);
    if (ZSTD_isError(length))
        return -ENOMEM;
    packed->length = length;
    return 0;
}

#else

int dft_parquet_compressor_init(struct dft_parquet_compressor *compressor)
{
    int window = 15 + 16; /* with a head of gzip */

    compressor->is_open = deflateInit2(&compressor->stream, LEVEL, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    return compressor->is_open ? 0 : -ENOMEM;
}

void dft_parquet_compressor_fini(struct dft_parquet_compressor *compressor)
{
    if (compressor->is_open)
        deflateEnd(&compressor->stream);
    compressor->is_open = 0;
}

int dft_parquet_compress(struct dft_parquet_compressor *compressor, struct dft_bytes *packed,
                         const struct dft_bytes *bytes)
{
    z_stream *stream = &compressor->stream;

    packed->length = 0;
    deflateReset(stream);
    if (!dft_bytes_room(packed, deflateBound(stream, bytes->length)))
        return -ENOMEM;
    stream->next_in = bytes->bytes;
    stream->avail_in = (uInt)bytes->length;
    stream->next_out = packed->bytes;
    stream->avail_out = (uInt)packed->capacity;
    if (deflate(stream, Z_FINISH) != Z_STREAM_END)
        return -EIO;
    packed->length = stream->total_out;
    return 0;
}

#endif
