/* SPDX-License-Identifier: MIT */
/* Batches put aside. Column by column: the cells; of texts also their number, their list (of struct
 * dft_text, whose pointers are set when the batch is opened), and their bytes. */
#include "tables/saved_batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t align(size_t length)
{
    return (length + 7) & ~(size_t)7;
}

static size_t bytes_of_texts(const struct dft_cells *cells)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < cells->ntexts; i++)
        bytes += cells->texts[i].length;
    return bytes;
}

/* What a column takes. */
static size_t length_of(const struct dft_cells *cells, uint32_t count)
{
    if (!cells->codes)
        return count * sizeof(int64_t);
    return align(count * sizeof(uint32_t)) + 2 * sizeof(uint64_t) + cells->ntexts * sizeof(struct dft_text) +
           align(bytes_of_texts(cells));
}

static char *put(char *at, const void *bytes, size_t length)
{
    if (length)
        memcpy(at, bytes, length);
    return at + align(length);
}

static char *put_texts(char *at, const struct dft_cells *cells)
{
    const uint64_t sizes[2] = {cells->ntexts, bytes_of_texts(cells)};
    char *bytes;

    at = put(at, sizes, sizeof sizes);
    bytes = at = put(at, cells->texts, cells->ntexts * sizeof *cells->texts);
    for (uint32_t i = 0; i < cells->ntexts; i++) {
        if (cells->texts[i].length)
            memcpy(bytes, cells->texts[i].bytes, cells->texts[i].length);
        bytes += cells->texts[i].length;
    }
    return at + align(sizes[1]);
}

static char *put_column(char *at, const struct dft_cells *cells, uint32_t count)
{
    if (cells->integers)
        return put(at, cells->integers, count * sizeof *cells->integers);
    if (cells->reals)
        return put(at, cells->reals, count * sizeof *cells->reals);
    return put_texts(put(at, cells->codes, count * sizeof *cells->codes), cells);
}

static int is_there(const struct dft_cells *cells)
{
    return cells->integers || cells->reals || cells->codes;
}

int dft_saved_batch_make(struct dft_saved_batch *saved, const struct dft_table_batch *batch, uint64_t columns)
{
    char *at;

    *saved = (struct dft_saved_batch){.count = batch->count};
    for (unsigned i = 0; i < 64 && columns >> i; i++)
        if (columns >> i & 1 && is_there(&batch->cells[i]))
            saved->length += length_of(&batch->cells[i], batch->count);
    at = saved->bytes = malloc(saved->length + 1);
    if (!at)
        return -ENOMEM;
    for (unsigned i = 0; i < 64 && columns >> i; i++)
        if (columns >> i & 1 && is_there(&batch->cells[i]))
            at = put_column(at, &batch->cells[i], batch->count);
    return 0;
}

int dft_saved_batch_spill(struct dft_saved_batch *saved, struct dft_spill_file *file)
{
    int rc = dft_spill_file_append(file, saved->bytes, saved->length, &saved->offset);

    if (rc)
        return rc;
    free(saved->bytes);
    saved->bytes = NULL;
    return 0;
}

/* Describes the texts of a column. Returns where the next column begins. */
static char *open_texts(char *at, struct dft_cells *cells)
{
    const uint64_t *sizes = (const uint64_t *)(const void *)at;
    struct dft_text *texts = (struct dft_text *)(void *)(at + 2 * sizeof *sizes);
    const char *bytes = (const char *)(texts + sizes[0]);

    cells->texts = texts;
    cells->ntexts = (uint32_t)sizes[0];
    for (uint32_t i = 0; i < cells->ntexts; i++) {
        texts[i].bytes = bytes;
        bytes += texts[i].length;
    }
    return (char *)(texts + sizes[0]) + align(sizes[1]);
}

static char *open_column(char *at, enum dft_cell_type type, uint32_t count, struct dft_cells *cells)
{
    const void *list = at;

    if (type == DFT_CELL_TEXT) {
        cells->codes = list;
        return open_texts(at + align(count * sizeof(uint32_t)), cells);
    }
    if (type == DFT_CELL_REAL)
        cells->reals = list;
    else
        cells->integers = list;
    return at + count * sizeof(int64_t);
}

int dft_saved_batch_open(struct dft_saved_batch *saved, const struct dft_spill_file *file,
                         const struct dft_table_shape *table, uint64_t columns, struct dft_cells *cells,
                         struct dft_table_batch *batch)
{
    char *at = saved->bytes;
    int rc = 0;

    if (!at) {
        at = saved->bytes = malloc(saved->length + 1);
        rc = at ? dft_spill_file_read(file, at, saved->length, saved->offset) : -ENOMEM;
    }
    if (rc)
        return rc;
    for (unsigned i = 0; i < table->ncolumns; i++) {
        cells[i] = (struct dft_cells){0};
        if (columns >> i & 1)
            at = open_column(at, table->columns[i].type, saved->count, &cells[i]);
    }
    *batch = (struct dft_table_batch){.count = saved->count, .cells = cells};
    return 0;
}

void dft_saved_batch_fini(struct dft_saved_batch *saved)
{
    free(saved->bytes);
    saved->bytes = NULL;
}
