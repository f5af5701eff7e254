/* SPDX-License-Identifier: MIT */
/* Small tables in memory: copies of all batches in one, and orders by value. */
#include "vtab/kept.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "vtab/feed.h"

#define COLUMNS 64u

/* The cells of a column, as they grow. */
struct column {
    int64_t *integers;
    double *reals;
    uint32_t *codes;
    struct dft_text *texts;
    size_t capacity, texts_capacity;
    uint32_t *order; /* NULL: not requested yet */
};

struct dft_kept {
    const struct dft_table_shape *table;
    struct column columns[COLUMNS];
    struct dft_cells cells[COLUMNS];
    struct dft_table_batch batch;
    uint32_t capacity;
};

void dft_kept_free(struct dft_kept *kept)
{
    for (unsigned c = 0; kept && c < kept->table->ncolumns; c++) {
        struct column *column = &kept->columns[c];

        for (uint32_t i = 0; i < kept->cells[c].ntexts; i++)
            free((char *)(uintptr_t)column->texts[i].bytes);
        free(column->texts);
        free(column->integers);
        free(column->reals);
        free(column->codes);
        free(column->order);
    }
    free(kept);
}

static int copy_texts(struct column *column, struct dft_cells *to, const struct dft_cells *from)
{
    if (DFT_ARRAY_RESERVE(column->texts, column->texts_capacity, (size_t)to->ntexts + from->ntexts))
        return -ENOMEM;
    for (uint32_t i = 0; i < from->ntexts; i++) {
        char *copy = malloc(from->texts[i].length + 1u);

        if (!copy)
            return -ENOMEM;
        if (from->texts[i].length)
            memcpy(copy, from->texts[i].bytes, from->texts[i].length);
        column->texts[to->ntexts++] = (struct dft_text){.bytes = copy, .length = from->texts[i].length};
    }
    return 0;
}

/* Appends the cells of a batch to a column that has `count` of them. */
static int append(struct column *column, struct dft_cells *to, const struct dft_cells *from, uint32_t count,
                  uint32_t more)
{
    uint32_t base = to->ntexts;
    size_t all = (size_t)count + more;

    if (from->integers) {
        if (DFT_ARRAY_RESERVE(column->integers, column->capacity, all))
            return -ENOMEM;
        memcpy(column->integers + count, from->integers, more * sizeof *column->integers);
    } else if (from->reals) {
        if (DFT_ARRAY_RESERVE(column->reals, column->capacity, all))
            return -ENOMEM;
        memcpy(column->reals + count, from->reals, more * sizeof *column->reals);
    } else if (from->codes) {
        if (DFT_ARRAY_RESERVE(column->codes, column->capacity, all) || copy_texts(column, to, from))
            return -ENOMEM;
        for (uint32_t i = 0; i < more; i++)
            column->codes[count + i] = from->codes[i] == DFT_CODE_NULL ? DFT_CODE_NULL : base + from->codes[i];
    }
    to->integers = column->integers;
    to->reals = column->reals;
    to->codes = column->codes;
    to->texts = column->texts;
    return 0;
}

static int add(struct dft_kept *kept, const struct dft_table_batch *batch)
{
    int rc = 0;

    for (unsigned c = 0; c < kept->table->ncolumns && !rc; c++)
        rc = append(&kept->columns[c], &kept->cells[c], &batch->cells[c], kept->batch.count, batch->count);
    kept->batch.count += rc ? 0 : batch->count;
    return rc;
}

int dft_kept_read(struct dft_kept **result, struct dft_source *source, const struct dft_filter *filter,
                  enum dft_table_number table, int (*interrupted)(void *context), void *context)
{
    const struct dft_table_request request = {.table = table, .columns = UINT64_MAX, .filter = filter};
    struct dft_kept *kept = calloc(1, sizeof *kept);
    struct dft_feed *feed = kept ? dft_feed_start(source, &request) : NULL;
    const struct dft_table_batch *batch = NULL;
    int rc = feed ? 0 : -ENOMEM;

    if (kept) {
        kept->table = dft_tables_at(table);
        kept->batch.cells = kept->cells;
    }
    while (!rc && !(rc = dft_feed_next(feed, &batch, interrupted, context)) && batch)
        rc = add(kept, batch);
    dft_feed_stop(feed);
    if (rc)
        dft_kept_free(kept);
    else
        *result = kept;
    return rc;
}

const struct dft_table_batch *dft_kept_batch(const struct dft_kept *kept)
{
    return &kept->batch;
}

/* --- finding rows ------------------------------------------------------------------------------ */

/* As SQLite compares texts. Cells without a value come first, and equal nothing. */
static int compare_texts(const struct dft_text *a, const struct dft_text *b)
{
    size_t least = a->length < b->length ? a->length : b->length;
    int order = least ? memcmp(a->bytes, b->bytes, least) : 0;

    return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int compare_cell(const struct dft_cells *cells, uint32_t row, const struct dft_kept_value *value)
{
    if (cells->integers)
        return (cells->integers[row] > value->integer) - (cells->integers[row] < value->integer);
    return cells->codes[row] == DFT_CODE_NULL ? -1 : compare_texts(&cells->texts[cells->codes[row]], &value->text);
}

static int compare_rows(const void *left, const void *right, void *context)
{
    const struct dft_cells *cells = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order;

    if (cells->integers) {
        order = (cells->integers[a] > cells->integers[b]) - (cells->integers[a] < cells->integers[b]);
    } else if (cells->codes[a] == DFT_CODE_NULL || cells->codes[b] == DFT_CODE_NULL) {
        order = (cells->codes[a] != DFT_CODE_NULL) - (cells->codes[b] != DFT_CODE_NULL);
    } else {
        order = compare_texts(&cells->texts[cells->codes[a]], &cells->texts[cells->codes[b]]);
    }
    return order ? order : (a > b) - (a < b);
}

static int make_order(struct dft_kept *kept, unsigned column)
{
    uint32_t *order = malloc((kept->batch.count + 1u) * sizeof *order);

    if (!order)
        return -ENOMEM;
    for (uint32_t i = 0; i < kept->batch.count; i++)
        order[i] = i;
    qsort_r(order, kept->batch.count, sizeof *order, compare_rows, &kept->cells[column]);
    kept->columns[column].order = order;
    return 0;
}

/* The first place in the order whose cell is not below the value, or, with `behind`, above it. */
static uint32_t place(const struct dft_kept *kept, unsigned column, const struct dft_kept_value *value, int behind)
{
    uint32_t low = 0, high = kept->batch.count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = compare_cell(&kept->cells[column], kept->columns[column].order[middle], value);

        if (order < 0 || (behind && !order))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int dft_kept_find(struct dft_kept *kept, unsigned column, const struct dft_kept_value *value, const uint32_t **rows,
                  uint32_t *count)
{
    uint32_t from;

    *count = 0;
    if (!kept->batch.count)
        return 0;
    if (!kept->columns[column].order && make_order(kept, column))
        return -ENOMEM;
    from = place(kept, column, value, 0);
    *rows = kept->columns[column].order + from;
    *count = place(kept, column, value, 1) - from;
    return 0;
}
