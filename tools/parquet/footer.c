/* SPDX-License-Identifier: MIT */
/* What readers look at first: the schema, where each chunk lies and what it holds, and the same of
 * its pages. */
#include "parquet/footer.h"

#include <errno.h>
#include <stdio.h>

#include "parquet/page.h"
#include "parquet/thrift.h"

#define TYPE_INT64      2
#define TYPE_DOUBLE     5
#define TYPE_BYTE_ARRAY 6
#define OPTIONAL        1
#define CONVERTED_UTF8  0
#define ORDER_UNKNOWN   0

static unsigned columns_of(const struct dft_parquet *file)
{
    unsigned n = 0;

    for (unsigned i = 0; i < file->table->ncolumns; i++)
        n += file->columns >> i & 1;
    return n;
}

static int type_of(enum dft_cell_type type)
{
    return type == DFT_CELL_TEXT ? TYPE_BYTE_ARRAY : type == DFT_CELL_REAL ? TYPE_DOUBLE : TYPE_INT64;
}

/* --- indices of pages ------------------------------------------------------------------------- */

/* Where the pages lie. */
static void put_offsets(struct dft_thrift *thrift, const struct dft_parquet_chunk *chunk)
{
    dft_thrift_list(thrift, 1, DFT_THRIFT_STRUCT, chunk->npages);
    for (uint32_t i = 0; i < chunk->npages; i++) {
        dft_thrift_item(thrift);
        dft_thrift_i64(thrift, 1, (int64_t)chunk->pages[i].offset);
        dft_thrift_i32(thrift, 2, (int32_t)chunk->pages[i].bytes);
        dft_thrift_i64(thrift, 3, (int64_t)chunk->pages[i].rows_before);
        dft_thrift_end(thrift);
    }
    dft_thrift_end(thrift);
}

static void put_page_limits(struct dft_thrift *thrift, const struct dft_parquet_chunk *chunk, int id, int is_greatest)
{
    dft_thrift_list(thrift, id, DFT_THRIFT_BINARY, chunk->npages);
    for (uint32_t i = 0; i < chunk->npages; i++) {
        const struct dft_parquet_page *page = &chunk->pages[i];

        dft_thrift_item_binary(thrift, is_greatest ? &page->greatest : &page->least, page->has_limits ? 8 : 0);
    }
}

/* What values the pages have. */
static void put_columns(struct dft_thrift *thrift, const struct dft_parquet_chunk *chunk)
{
    dft_thrift_list(thrift, 1, DFT_THRIFT_TRUE, chunk->npages);
    for (uint32_t i = 0; i < chunk->npages; i++)
        dft_thrift_item_bool(thrift, !chunk->pages[i].has_limits);
    put_page_limits(thrift, chunk, 2, 0);
    put_page_limits(thrift, chunk, 3, 1);
    dft_thrift_i32(thrift, 4, ORDER_UNKNOWN);
    dft_thrift_list(thrift, 5, DFT_THRIFT_I64, chunk->npages);
    for (uint32_t i = 0; i < chunk->npages; i++)
        dft_thrift_item_number(thrift, chunk->pages[i].nulls);
    dft_thrift_end(thrift);
}

static int put_index(struct dft_parquet *file, const struct dft_parquet_chunk *chunk,
                     void (*put)(struct dft_thrift *thrift, const struct dft_parquet_chunk *chunk), uint64_t *at,
                     uint32_t *bytes)
{
    struct dft_thrift thrift = {.out = &file->head};

    file->head.length = 0;
    put(&thrift, chunk);
    *at = file->offset;
    *bytes = (uint32_t)file->head.length;
    return file->head.failed ? -ENOMEM : dft_parquet_put(file, file->head.bytes, file->head.length);
}

static enum dft_cell_type type_at(const struct dft_parquet *file, uint32_t chunk)
{
    unsigned left = chunk % columns_of(file), i = 0;

    for (; !(file->columns >> i & 1) || left; i++)
        left -= file->columns >> i & 1;
    return file->table->columns[i].type;
}

static int put_indices(struct dft_parquet *file)
{
    int rc = 0;

    for (uint32_t i = 0; i < file->nchunks && !rc; i++) {
        struct dft_parquet_chunk *chunk = &file->chunks[i];

        /* least and greatest texts of pages are not known */
        if (type_at(file, i) != DFT_CELL_TEXT)
            rc = put_index(file, chunk, put_columns, &chunk->columns_at, &chunk->columns_bytes);
        if (!rc)
            rc = put_index(file, chunk, put_offsets, &chunk->offsets_at, &chunk->offsets_bytes);
    }
    return rc;
}

/* --- the schema ------------------------------------------------------------------------------- */

static void put_logical_type(struct dft_thrift *thrift, enum dft_cell_type type)
{
    if (type != DFT_CELL_TEXT && type != DFT_CELL_TIME)
        return;
    dft_thrift_struct(thrift, 10);
    if (type == DFT_CELL_TEXT) {
        dft_thrift_empty(thrift, 1);
    } else {
        dft_thrift_struct(thrift, 8);
        dft_thrift_bool(thrift, 1, 1); /* UTC */
        dft_thrift_struct(thrift, 2);
        dft_thrift_empty(thrift, 3); /* nanoseconds */
        dft_thrift_end(thrift);
        dft_thrift_end(thrift);
    }
    dft_thrift_end(thrift);
}

static void put_schema(struct dft_thrift *thrift, const struct dft_parquet *file)
{
    dft_thrift_list(thrift, 2, DFT_THRIFT_STRUCT, columns_of(file) + 1);
    dft_thrift_item(thrift);
    dft_thrift_binary(thrift, 4, file->table->name, strlen(file->table->name));
    dft_thrift_i32(thrift, 5, (int32_t)columns_of(file));
    dft_thrift_end(thrift);
    for (unsigned i = 0; i < file->table->ncolumns; i++) {
        const struct dft_table_column *column = &file->table->columns[i];

        if (!(file->columns >> i & 1))
            continue;
        dft_thrift_item(thrift);
        dft_thrift_i32(thrift, 1, type_of(column->type));
        dft_thrift_i32(thrift, 3, OPTIONAL);
        dft_thrift_binary(thrift, 4, column->name, strlen(column->name));
        if (column->type == DFT_CELL_TEXT)
            dft_thrift_i32(thrift, 6, CONVERTED_UTF8);
        put_logical_type(thrift, column->type);
        dft_thrift_end(thrift);
    }
}

/* --- row groups ------------------------------------------------------------------------------- */

static void put_statistics(struct dft_thrift *thrift, const struct dft_parquet_chunk *chunk)
{
    dft_thrift_struct(thrift, 12);
    dft_thrift_i64(thrift, 3, (int64_t)chunk->nulls);
    if (chunk->has_limits) {
        dft_thrift_binary(thrift, 5, chunk->greatest.bytes, chunk->greatest.length);
        dft_thrift_binary(thrift, 6, chunk->least.bytes, chunk->least.length);
    }
    dft_thrift_end(thrift);
}

static void put_encodings(struct dft_thrift *thrift, const struct dft_parquet_chunk *chunk)
{
    dft_thrift_list(thrift, 2, DFT_THRIFT_I32, chunk->dictionary ? 3 : 2);
    if (chunk->dictionary)
        dft_thrift_item_number(thrift, DFT_PARQUET_PLAIN); /* of the dictionary itself */
    dft_thrift_item_number(thrift, DFT_PARQUET_RLE);
    dft_thrift_item_number(thrift, chunk->encoding);
}

static void put_chunk(struct dft_thrift *thrift, const struct dft_parquet_chunk *chunk,
                      const struct dft_table_column *column)
{
    dft_thrift_item(thrift);
    dft_thrift_i64(thrift, 2, 0);
    dft_thrift_struct(thrift, 3);
    dft_thrift_i32(thrift, 1, type_of(column->type));
    put_encodings(thrift, chunk);
    dft_thrift_list(thrift, 3, DFT_THRIFT_BINARY, 1);
    dft_thrift_item_binary(thrift, column->name, strlen(column->name));
    dft_thrift_i32(thrift, 4, DFT_PARQUET_CODEC);
    dft_thrift_i64(thrift, 5, (int64_t)chunk->rows);
    dft_thrift_i64(thrift, 6, (int64_t)chunk->raw_bytes);
    dft_thrift_i64(thrift, 7, (int64_t)chunk->bytes);
    dft_thrift_i64(thrift, 9, (int64_t)chunk->begin);
    if (chunk->dictionary)
        dft_thrift_i64(thrift, 11, (int64_t)chunk->dictionary);
    put_statistics(thrift, chunk);
    dft_thrift_end(thrift);
    dft_thrift_i64(thrift, 4, (int64_t)chunk->offsets_at);
    dft_thrift_i32(thrift, 5, (int32_t)chunk->offsets_bytes);
    if (chunk->columns_bytes) {
        dft_thrift_i64(thrift, 6, (int64_t)chunk->columns_at);
        dft_thrift_i32(thrift, 7, (int32_t)chunk->columns_bytes);
    }
    dft_thrift_end(thrift);
}

static void put_group(struct dft_thrift *thrift, const struct dft_parquet *file, const struct dft_parquet_chunk *chunks)
{
    const struct dft_parquet_chunk *chunk = chunks;
    uint64_t bytes = 0, raw_bytes = 0;

    dft_thrift_item(thrift);
    dft_thrift_list(thrift, 1, DFT_THRIFT_STRUCT, columns_of(file));
    for (unsigned i = 0; i < file->table->ncolumns; i++) {
        if (!(file->columns >> i & 1))
            continue;
        bytes += chunk->bytes;
        raw_bytes += chunk->raw_bytes;
        put_chunk(thrift, chunk++, &file->table->columns[i]);
    }
    dft_thrift_i64(thrift, 2, (int64_t)raw_bytes);
    dft_thrift_i64(thrift, 3, (int64_t)chunks->rows);
    dft_thrift_i64(thrift, 5, (int64_t)(chunks->dictionary ? chunks->dictionary : chunks->begin));
    dft_thrift_i64(thrift, 6, (int64_t)bytes);
    dft_thrift_end(thrift);
}

static void put_metadata(struct dft_thrift *thrift, const struct dft_parquet *file)
{
    static const char created_by[] = "dftrace " DFT_VERSION;
    unsigned columns = columns_of(file);

    dft_thrift_i32(thrift, 1, 2); /* version of the format */
    put_schema(thrift, file);
    dft_thrift_i64(thrift, 3, (int64_t)file->rows);
    dft_thrift_list(thrift, 4, DFT_THRIFT_STRUCT, file->nchunks / columns);
    for (uint32_t i = 0; i < file->nchunks; i += columns)
        put_group(thrift, file, &file->chunks[i]);
    dft_thrift_binary(thrift, 6, created_by, sizeof created_by - 1);
    dft_thrift_list(thrift, 7, DFT_THRIFT_STRUCT, columns);
    for (unsigned i = 0; i < columns; i++) { /* values compare as their types say */
        dft_thrift_item(thrift);
        dft_thrift_empty(thrift, 1);
        dft_thrift_end(thrift);
    }
    dft_thrift_end(thrift);
}

int dft_parquet_footer(struct dft_parquet *file)
{
    struct dft_thrift thrift = {.out = &file->head};
    int rc = put_indices(file);

    if (rc)
        return rc;
    file->head.length = 0;
    put_metadata(&thrift, file);
    dft_bytes_number(&file->head, file->head.length, 4);
    dft_bytes_put(&file->head, "PAR1", 4);
    return file->head.failed ? -ENOMEM : dft_parquet_put(file, file->head.bytes, file->head.length);
}
