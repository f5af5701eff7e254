/* SPDX-License-Identifier: MIT */
/* A file of Parquet from its begin to its end: its chunks column by column, and then its footer. */
#include "parquet/parquet.h"

#include <errno.h>
#include <stdlib.h>

#include "parquet/chunk_numbers.h"
#include "parquet/chunk_texts.h"
#include "parquet/file.h"
#include "parquet/footer.h"
#include "parquet/page.h"

static void destroy(struct dft_parquet *file)
{
    struct dft_bytes *const scratch[] = {&file->page,    &file->packed,  &file->head,    &file->values, &file->present,
                                         &file->indices, &file->numbers, &file->entries, &file->places};

    for (size_t i = 0; i < sizeof scratch / sizeof *scratch; i++)
        dft_bytes_fini(scratch[i]);
    for (uint32_t i = 0; i < file->nchunks; i++)
        free(file->chunks[i].pages);
    free(file->chunks);
    dft_parquet_compressor_fini(&file->compressor);
    free(file);
}

int dft_parquet_open(struct dft_parquet **result, const char *path, const struct dft_table_shape *table,
                     uint64_t columns)
{
    struct dft_parquet *file = *result = calloc(1, sizeof *file);
    int rc = file ? dft_parquet_compressor_init(&file->compressor) : -ENOMEM;

    if (!file)
        return rc;
    file->table = table;
    file->columns = columns;
    if (!rc)
        rc = dft_outfile_open_inside(&file->out, path);
    if (!rc)
        rc = dft_parquet_put(file, "PAR1", 4);
    if (!rc)
        return 0;
    *result = NULL;
    return dft_parquet_close(file, rc);
}

static int put_chunk(struct dft_parquet *file, const struct dft_table_batch *batch, unsigned column)
{
    enum dft_cell_type type = file->table->columns[column].type;
    struct dft_parquet_chunk *chunk;

    if (DFT_ARRAY_PUSH(file->chunks, file->capacity, file->nchunks, (struct dft_parquet_chunk){.rows = batch->count}))
        return -ENOMEM;
    chunk = &file->chunks[file->nchunks - 1];
    return type == DFT_CELL_TEXT ? dft_parquet_texts(file, chunk, &batch->cells[column])
                                 : dft_parquet_numbers(file, chunk, &batch->cells[column], type);
}

int dft_parquet_group(struct dft_parquet *file, const struct dft_table_batch *batch)
{
    int rc = 0;

    for (unsigned i = 0; batch->count && i < file->table->ncolumns && !rc; i++)
        if (file->columns >> i & 1)
            rc = put_chunk(file, batch, i);
    file->rows += batch->count;
    return rc;
}

int dft_parquet_close(struct dft_parquet *file, int rc)
{
    if (!file)
        return rc;
    if (!rc)
        rc = dft_parquet_footer(file);
    rc = dft_outfile_close(&file->out, rc, 0);
    destroy(file);
    return rc;
}
