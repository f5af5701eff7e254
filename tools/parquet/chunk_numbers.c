/* SPDX-License-Identifier: MIT */
/* Chunks of numbers: integers, times and reals. A real is encoded as the 64 bits that it has. */
#include "parquet/chunk_numbers.h"

#include <errno.h>
#include <math.h>

#include "parquet/encode.h"
#include "parquet/encode_delta.h"
#include "parquet/encode_runs.h"
#include "parquet/numbers.h"
#include "parquet/page.h"

#define ENTRIES_MAX (1u << 16) /* of a dictionary */

struct numbers {
    struct dft_parquet *file;
    struct dft_parquet_chunk *chunk;
    const int64_t *cells; /* of all rows */
    uint32_t rows;
    enum dft_cell_type type;
    int64_t least, greatest; /* as 64 bits */
    const int64_t *values;   /* of the rows that have one */
    uint32_t count;
    uint32_t *indices; /* of these, into the dictionary; NULL: all are the first one */
    unsigned width;    /* of an index */
};

static int64_t bits_of(double real)
{
    int64_t bits;

    memcpy(&bits, &real, sizeof bits);
    return bits;
}

/* Reals as cells: what is no number is null. -0 is 0, because its bits are those of null. */
static int take_reals(struct numbers *numbers, const double *reals)
{
    int64_t *cells = dft_parquet_scratch(&numbers->file->numbers, numbers->rows, sizeof *cells);

    for (uint32_t i = 0; cells && i < numbers->rows; i++)
        cells[i] = isnan(reals[i]) ? DFT_CELL_NULL : bits_of(reals[i] + 0.0);
    numbers->cells = cells;
    return cells ? 0 : -ENOMEM;
}

/* --- least and greatest ----------------------------------------------------------------------- */

/* So that reals compare as their bits do: those of a negative one descend. */
static inline int64_t ordered(int64_t cell, int is_real)
{
    return is_real && cell < 0 ? (int64_t)(~(uint64_t)cell ^ (UINT64_C(1) << 63)) : cell;
}

/* `least` is sought one below, where a null is the greatest number of all. */
static inline __attribute__((always_inline)) struct dft_parquet_page look(const int64_t *cells, uint32_t count,
                                                                          int is_real)
{
    int64_t least = INT64_MAX, greatest = INT64_MIN;
    uint32_t nulls = 0;

    for (uint32_t i = 0; i < count; i++) {
        int64_t cell = cells[i] == DFT_CELL_NULL ? cells[i] : ordered(cells[i], is_real);
        int64_t below = (int64_t)((uint64_t)cell - 1);

        nulls += cell == DFT_CELL_NULL;
        least = below < least ? below : least;
        greatest = cell > greatest ? cell : greatest;
    }
    least = (int64_t)((uint64_t)least + 1);
    return (struct dft_parquet_page){.nulls = nulls,
                                     .has_limits = nulls < count,
                                     .least = (uint64_t)ordered(least, is_real),
                                     .greatest = (uint64_t)ordered(greatest, is_real)};
}

static struct dft_parquet_page look_at(const struct numbers *numbers, uint32_t from, uint32_t count)
{
    const int64_t *cells = numbers->cells + from;
    struct dft_parquet_page page = numbers->type == DFT_CELL_REAL ? look(cells, count, 1) : look(cells, count, 0);

    page.rows_before = from;
    return page;
}

static void keep_limits(struct numbers *numbers, const struct dft_parquet_page *page)
{
    int is_real = numbers->type == DFT_CELL_REAL;
    int64_t least = (int64_t)page->least, greatest = (int64_t)page->greatest;

    if (!page->has_limits)
        return;
    if (!numbers->chunk->has_limits || ordered(least, is_real) < ordered(numbers->least, is_real))
        numbers->least = least;
    if (!numbers->chunk->has_limits || ordered(greatest, is_real) > ordered(numbers->greatest, is_real))
        numbers->greatest = greatest;
    numbers->chunk->has_limits = 1;
}

static void put_limit(struct dft_parquet_limit *limit, int64_t number)
{
    limit->length = 8;
    dft_store64(limit->bytes, (uint64_t)number);
}

/* --- encoding --------------------------------------------------------------------------------- */

/* Puts the values beside each other, without nulls. */
static int gather(struct numbers *numbers)
{
    int64_t *values;
    uint32_t n = 0;

    numbers->count = numbers->rows - (uint32_t)numbers->chunk->nulls;
    numbers->values = numbers->cells;
    if (numbers->count == numbers->rows || !numbers->count)
        return 0;
    values = dft_parquet_scratch(&numbers->file->values, numbers->rows, sizeof *values);
    for (uint32_t i = 0; values && i < numbers->rows; i++) {
        values[n] = numbers->cells[i];
        n += numbers->cells[i] != DFT_CELL_NULL;
    }
    numbers->values = values;
    return values ? 0 : -ENOMEM;
}

/* Is a dictionary worth a try? Its indices may take some bits more than differences, because their
 * repetitions are compressed. */
static uint32_t entries_that_pay(const struct numbers *numbers)
{
    unsigned bits =
        numbers->type == DFT_CELL_REAL ? 64 : dft_parquet_encode_delta_bits(numbers->values, numbers->count);
    uint32_t most = bits >= 16 ? ENTRIES_MAX : bits ? 1u << bits : 1;

    return most < numbers->count / 4 + 1 ? most : numbers->count / 4 + 1;
}

/* Fills file->entries. Returns how many there are; 0: a dictionary does not pay. */
static uint32_t find_entries(struct numbers *numbers)
{
    struct dft_parquet *file = numbers->file;

    if (numbers->least == numbers->greatest) {
        file->entries.length = 0;
        dft_bytes_put(&file->entries, &numbers->least, sizeof numbers->least);
        return 1;
    }
    if (numbers->type == DFT_CELL_TIME)
        return 0;
    numbers->indices = dft_parquet_scratch(&file->indices, numbers->count, sizeof *numbers->indices);
    return numbers->indices
               ? dft_parquet_index(&file->entries, &file->places, numbers->indices, numbers->values, numbers->count,
                                   numbers->least, numbers->greatest, entries_that_pay(numbers))
               : 0;
}

static int choose(struct numbers *numbers)
{
    struct dft_parquet *file = numbers->file;
    struct dft_parquet_chunk *chunk = numbers->chunk;
    uint32_t known = numbers->count ? find_entries(numbers) : 0;

    if (file->entries.failed || file->places.failed || file->indices.failed)
        return -ENOMEM;
    chunk->encoding = known                                               ? DFT_PARQUET_DICTIONARY
                      : numbers->type == DFT_CELL_REAL || !numbers->count ? DFT_PARQUET_PLAIN
                                                                          : DFT_PARQUET_DELTA;
    if (!known)
        return 0;
    numbers->width = dft_parquet_encode_index_width(known);
    dft_bytes_put(&file->page, file->entries.bytes, file->entries.length);
    return dft_parquet_dictionary_page(file, chunk, known);
}

static int put_levels(struct numbers *numbers, const struct dft_parquet_page *page, uint32_t rows)
{
    uint32_t *present = NULL;

    if (page->nulls && page->nulls < rows) {
        present = dft_parquet_scratch(&numbers->file->present, rows, sizeof *present);
        for (uint32_t i = 0; present && i < rows; i++)
            present[i] = numbers->cells[page->rows_before + i] != DFT_CELL_NULL;
        if (!present)
            return -ENOMEM;
    }
    dft_parquet_encode_levels(&numbers->file->page, present, rows, page->nulls == 0);
    return 0;
}

/* `from`: values of the pages before. */
static int put_page(struct numbers *numbers, struct dft_parquet_page page, uint32_t rows, uint32_t from)
{
    struct dft_bytes *bytes = &numbers->file->page;
    uint32_t count = rows - page.nulls;
    int rc = put_levels(numbers, &page, rows);

    if (rc)
        return rc;
    if (numbers->chunk->encoding == DFT_PARQUET_DICTIONARY) {
        dft_bytes_number(bytes, numbers->width, 1);
        if (numbers->indices)
            dft_parquet_encode_runs(bytes, numbers->indices + from, count, numbers->width);
        else if (count)
            dft_parquet_encode_run(bytes, 0, count, numbers->width);
    } else if (numbers->chunk->encoding == DFT_PARQUET_DELTA) {
        dft_parquet_encode_delta(bytes, numbers->values + from, count);
    } else {
        dft_bytes_put(bytes, numbers->values + from, count * sizeof *numbers->values);
    }
    return dft_parquet_data_page(numbers->file, numbers->chunk, page, rows);
}

static int put_pages(struct numbers *numbers, const struct dft_parquet_page *pages)
{
    uint32_t values = 0;
    int rc = 0;

    for (uint32_t from = 0; from < numbers->rows && !rc; from += DFT_PARQUET_PAGE_ROWS) {
        const struct dft_parquet_page *page = &pages[from / DFT_PARQUET_PAGE_ROWS];
        uint32_t rest = numbers->rows - from, rows = rest < DFT_PARQUET_PAGE_ROWS ? rest : DFT_PARQUET_PAGE_ROWS;

        rc = put_page(numbers, *page, rows, values);
        values += rows - page->nulls;
    }
    return rc;
}

int dft_parquet_numbers(struct dft_parquet *file, struct dft_parquet_chunk *chunk, const struct dft_cells *cells,
                        enum dft_cell_type type)
{
    struct numbers numbers = {
        .file = file, .chunk = chunk, .cells = cells->integers, .rows = (uint32_t)chunk->rows, .type = type};
    uint32_t npages = (numbers.rows + DFT_PARQUET_PAGE_ROWS - 1) / DFT_PARQUET_PAGE_ROWS;
    struct dft_parquet_page *pages = calloc(npages + 1, sizeof *pages);
    int rc = pages ? 0 : -ENOMEM;

    if (!rc && type == DFT_CELL_REAL)
        rc = take_reals(&numbers, cells->reals);
    for (uint32_t i = 0; i < npages && !rc; i++) {
        uint32_t from = i * DFT_PARQUET_PAGE_ROWS, rest = numbers.rows - from;

        pages[i] = look_at(&numbers, from, rest < DFT_PARQUET_PAGE_ROWS ? rest : DFT_PARQUET_PAGE_ROWS);
        chunk->nulls += pages[i].nulls;
        keep_limits(&numbers, &pages[i]);
    }
    put_limit(&chunk->least, numbers.least);
    put_limit(&chunk->greatest, numbers.greatest);
    if (!rc)
        rc = gather(&numbers);
    if (!rc)
        rc = choose(&numbers);
    if (!rc)
        rc = put_pages(&numbers, pages);
    free(pages);
    return rc;
}
