/* SPDX-License-Identifier: MIT */
/* Puts pages into the file: head, compression, and where they lie. */
#include "parquet/page.h"

#include <errno.h>

#include "parquet/thrift.h"

#define DATA_PAGE       0
#define DICTIONARY_PAGE 2

int dft_parquet_put(struct dft_parquet *file, const void *bytes, size_t length)
{
    errno = 0;
    if (fwrite(bytes, 1, length, file->out.stream) != length)
        return file->out.error ? file->out.error : -EIO;
    file->offset += length;
    return 0;
}

/* What both kinds have first. */
static int begin(struct dft_parquet *file, struct dft_thrift *thrift, int kind)
{
    int rc;

    if (file->page.failed)
        return -ENOMEM;
    if (file->page.length > INT32_MAX)
        return -EFBIG;
    rc = dft_parquet_compress(&file->compressor, &file->packed, &file->page);
    file->head.length = 0;
    *thrift = (struct dft_thrift){.out = &file->head};
    dft_thrift_i32(thrift, 1, kind);
    dft_thrift_i32(thrift, 2, (int32_t)file->page.length);
    dft_thrift_i32(thrift, 3, (int32_t)file->packed.length);
    return rc;
}

static int end(struct dft_parquet *file, struct dft_thrift *thrift, struct dft_parquet_chunk *chunk)
{
    int rc;

    dft_thrift_end(thrift);
    dft_thrift_end(thrift);
    if (file->head.failed)
        return -ENOMEM;
    chunk->bytes += file->head.length + file->packed.length;
    chunk->raw_bytes += file->head.length + file->page.length;
    rc = dft_parquet_put(file, file->head.bytes, file->head.length);
    if (!rc)
        rc = dft_parquet_put(file, file->packed.bytes, file->packed.length);
    file->page.length = 0;
    return rc;
}

int dft_parquet_dictionary_page(struct dft_parquet *file, struct dft_parquet_chunk *chunk, uint32_t entries)
{
    struct dft_thrift thrift;
    int rc = begin(file, &thrift, DICTIONARY_PAGE);

    if (rc)
        return rc;
    chunk->dictionary = file->offset;
    dft_thrift_struct(&thrift, 7);
    dft_thrift_i32(&thrift, 1, (int32_t)entries);
    dft_thrift_i32(&thrift, 2, DFT_PARQUET_PLAIN);
    return end(file, &thrift, chunk);
}

int dft_parquet_data_page(struct dft_parquet *file, struct dft_parquet_chunk *chunk, struct dft_parquet_page page,
                          uint32_t rows)
{
    struct dft_thrift thrift;
    int rc = begin(file, &thrift, DATA_PAGE);

    if (rc)
        return rc;
    page.offset = file->offset;
    if (!chunk->npages)
        chunk->begin = page.offset;
    dft_thrift_struct(&thrift, 5);
    dft_thrift_i32(&thrift, 1, (int32_t)rows);
    dft_thrift_i32(&thrift, 2, chunk->encoding);
    dft_thrift_i32(&thrift, 3, DFT_PARQUET_RLE);
    dft_thrift_i32(&thrift, 4, DFT_PARQUET_RLE);
    rc = end(file, &thrift, chunk);
    page.bytes = (uint32_t)(file->offset - page.offset);
    return rc ? rc : DFT_ARRAY_PUSH(chunk->pages, chunk->capacity, chunk->npages, page);
}
