/* SPDX-License-Identifier: MIT */
/* A file that is being written, as the parts of the writer see it: where its chunks and pages lie. */
#ifndef DFT_PARQUET_FILE_H
#define DFT_PARQUET_FILE_H

#include "base/outfile.h"
#include "parquet/bytes.h"
#include "parquet/compress.h"
#include "parquet/parquet.h"

/* Rows of a page, and bytes of texts in one: readers skip by pages, and hold one at a time. */
#define DFT_PARQUET_PAGE_ROWS  65536u
#define DFT_PARQUET_PAGE_BYTES (1u << 20)

/* Texts that are longer are not compared: then a chunk says neither the least nor the greatest. */
#define DFT_PARQUET_LIMIT_BYTES 64u

enum dft_parquet_encoding {
    DFT_PARQUET_PLAIN = 0,
    DFT_PARQUET_RLE = 3,
    DFT_PARQUET_DELTA = 5,
    DFT_PARQUET_DICTIONARY = 8
};

/* A least or greatest value, as Parquet has it; a number has 8 bytes. */
struct dft_parquet_limit {
    unsigned char bytes[DFT_PARQUET_LIMIT_BYTES];
    uint8_t length;
};

/* A data page. has_limits: it has values, of which least and greatest are these. */
struct dft_parquet_page {
    uint64_t offset, rows_before;
    uint32_t bytes; /* in the file, with its head */
    uint32_t nulls;
    uint64_t least, greatest; /* numbers alone, as 64 bits */
    int has_limits;
};

/* What a row group has of a column. */
struct dft_parquet_chunk {
    enum dft_parquet_encoding encoding;
    uint64_t begin, dictionary; /* offsets: of the first data page, and of a dictionary (0: none) */
    uint64_t bytes, raw_bytes;  /* of all pages, as they are and before compression, with their heads */
    uint64_t rows, nulls;
    struct dft_parquet_limit least, greatest;
    int has_limits;
    struct dft_parquet_page *pages;
    uint32_t npages, capacity;
    /* where the indices of its pages are, once they are written; 0 bytes: there is none */
    uint64_t columns_at, offsets_at;
    uint32_t columns_bytes, offsets_bytes;
};

struct dft_parquet {
    struct dft_outfile out;
    const struct dft_table_shape *table;
    uint64_t columns;
    uint64_t offset; /* bytes written */
    uint64_t rows;
    struct dft_parquet_chunk *chunks; /* of the first group, in order of columns, then of the next */
    uint32_t nchunks, capacity;
    struct dft_parquet_compressor compressor;
    struct dft_bytes page, packed, head; /* of the page that is being made */
    /* of the chunk that is being made: values without nulls, which rows have one, indices into a
     * dictionary, numbers that a column's cells became, the dictionary, and places in it */
    struct dft_bytes values, present, indices, numbers, entries, places;
};

/* Makes room for all rows of a batch in one of these lists, and forgets what was there. NULL: no
 * memory. */
static inline void *dft_parquet_scratch(struct dft_bytes *bytes, size_t count, size_t size)
{
    bytes->length = 0;
    return dft_bytes_room(bytes, count * size + 8);
}

#endif
