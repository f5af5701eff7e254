/* SPDX-License-Identifier: MIT */
/* Writes a file of Parquet whose cells are made by chance, always the same for the same arguments,
 * and prints the cells: a line of JSON for each row.
 *
 *   make_parquet FILE KEY=VALUE...
 *
 * table: its number. rows of a group, groups, seed: numbers. left_out: a mask of columns.
 * quiet=1: prints nothing. Each column of a group has a form of its own: one value, none, few, noise
 * of some bits, steps, the whole range; and some, none or long stretches of nulls. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_line.h"
#include "parquet/parquet.h"
#include "settings.h"

#define TEXT_MAX 3000u

static struct {
    long table, rows, groups, seed, left_out, quiet;
} settings = {.rows = 1000, .groups = 1, .seed = 1};

static const struct setting names_of_settings[] = {
    {"table", &settings.table}, {"rows", &settings.rows},         {"groups", &settings.groups},
    {"seed", &settings.seed},   {"left_out", &settings.left_out}, {"quiet", &settings.quiet},
};

/* Is the row's cell null? By one of four habits. */
static int is_null(unsigned habit, long row)
{
    switch (habit) {
    case 0:
    case 1:
        return 0;
    case 2:
        return random_below(3) == 0;
    default:
        return row / 1000 % 2 == 1;
    }
}

static int64_t integer(unsigned form, long row, int64_t base, unsigned bits)
{
    switch (form) {
    case 0:
        return base;
    case 1:
        return DFT_CELL_NULL;
    case 2:
        return base + (int64_t)random_below(5) * 1000003;
    case 3:
        return base + (int64_t)random_below(UINT64_C(1) << bits);
    case 4:
        return base + row * 4096 + (int64_t)random_below(2);
    case 5:
        return random_below(2) ? INT64_MAX - (int64_t)random_below(2) : -INT64_MAX + (int64_t)random_below(2);
    default:
        return (int64_t)(random_below(UINT64_C(1) << 32) << 32 | random_below(UINT64_C(1) << 32));
    }
}

static void fill_integers(struct dft_cells *cells)
{
    int64_t *list = malloc((size_t)settings.rows * sizeof *list);
    int64_t base = (int64_t)random_below(UINT64_C(1) << 47) - (INT64_C(1) << 46);
    unsigned form = (unsigned)random_below(7), habit = (unsigned)random_below(4), bits = (unsigned)random_below(40);

    for (long i = 0; list && i < settings.rows; i++)
        list[i] = is_null(habit, i) ? DFT_CELL_NULL : integer(form, i, base, bits);
    cells->integers = list;
}

static void fill_reals(struct dft_cells *cells)
{
    static const double few[] = {0.0, -0.0, 1.5, -2.25, INFINITY, -INFINITY, 1e308, 5e-324};
    double *list = malloc((size_t)settings.rows * sizeof *list);
    unsigned form = (unsigned)random_below(3), habit = (unsigned)random_below(4);

    for (long i = 0; list && i < settings.rows; i++)
        list[i] = form == 0 || is_null(habit, i) ? NAN
                  : form == 1                    ? few[random_below(8)]
                                                 : (double)random_below(UINT64_C(1) << 40) / 7 - 1e10;
    cells->reals = list;
}

/* Bytes of all kinds, also such that are no UTF-8. */
static uint32_t make_text(char *to, unsigned form, uint32_t number)
{
    static const char *const pieces[] = {"/scratch/", "a",    "\xc3\xa4",     "\xf0\x9f\x98\x80",
                                         "\xff",      "\xc3", "\xed\xa0\x80", "\n"};
    uint32_t length = (uint32_t)sprintf(to, "%" PRIu32 "-", number);
    uint64_t more = form == 0 ? 0 : form == 1 ? random_below(8) : random_below(form == 2 ? 300 : 1000);

    if (form == 0 && number == 0)
        return 0;
    while (more--)
        length += (uint32_t)sprintf(to + length, "%s", pieces[random_below(form == 3 ? 4 : 8)]);
    return length;
}

static void fill_texts(struct dft_cells *cells)
{
    uint32_t ntexts =
        (uint32_t)(random_below(2) ? 1 + random_below(20) : 1 + random_below((uint64_t)settings.rows + 1));
    unsigned form = (unsigned)random_below(4), habit = (unsigned)random_below(4);
    uint32_t *codes = malloc((size_t)settings.rows * sizeof *codes);
    struct dft_text *texts = malloc(ntexts * sizeof *texts);
    char *room = malloc(TEXT_MAX * 3);

    for (uint32_t i = 0; texts && room && i < ntexts; i++) {
        texts[i].length = make_text(room, form, i);
        texts[i].bytes = strndup(room, texts[i].length);
    }
    for (long i = 0; codes && i < settings.rows; i++)
        codes[i] = is_null(habit, i) ? DFT_CODE_NULL : (uint32_t)random_below(ntexts);
    free(room);
    *cells = (struct dft_cells){.codes = codes, .texts = texts, .ntexts = ntexts};
}

static void forget(struct dft_cells *cells)
{
    for (uint32_t i = 0; i < cells->ntexts; i++)
        free((char *)cells->texts[i].bytes);
    free((void *)cells->texts);
    free((void *)cells->codes);
    free((void *)cells->reals);
    free((void *)cells->integers);
}

/* --- printing --------------------------------------------------------------------------------- */

static void print_cell(struct dft_line *line, const struct dft_cells *cells, uint32_t row)
{
    if (cells->integers && cells->integers[row] != DFT_CELL_NULL)
        dft_line_int(line, cells->integers[row]);
    else if (cells->reals && isinf(cells->reals[row]))
        dft_line_format(line, "\"%g\"", cells->reals[row]);
    else if (cells->reals && !isnan(cells->reals[row]))
        dft_line_format(line, "%.17g", cells->reals[row]);
    else if (cells->codes && cells->codes[row] != DFT_CODE_NULL)
        dft_line_quote(line, cells->texts[cells->codes[row]].bytes, cells->texts[cells->codes[row]].length);
    else
        dft_line_word(line, "null");
}

static void print(const struct dft_table_shape *table, uint64_t columns, const struct dft_table_batch *batch)
{
    struct dft_line line;

    dft_line_init(&line, stdout);
    for (uint32_t row = 0; row < batch->count; row++) {
        char before = '{';

        for (unsigned i = 0; i < table->ncolumns; i++) {
            if (!(columns >> i & 1))
                continue;
            dft_line_char(&line, before);
            dft_line_quote(&line, table->columns[i].name, strlen(table->columns[i].name));
            dft_line_char(&line, ':');
            print_cell(&line, &batch->cells[i], row);
            before = ',';
        }
        dft_line_word(&line, "}\n");
    }
    dft_line_flush(&line);
}

static int put_group(struct dft_parquet *file, const struct dft_table_shape *table, uint64_t columns)
{
    struct dft_cells cells[64] = {0};
    struct dft_table_batch batch = {.count = (uint32_t)settings.rows, .cells = cells};
    int rc;

    for (unsigned i = 0; i < table->ncolumns; i++) {
        if (!(columns >> i & 1))
            continue;
        if (table->columns[i].type == DFT_CELL_TEXT)
            fill_texts(&cells[i]);
        else if (table->columns[i].type == DFT_CELL_REAL)
            fill_reals(&cells[i]);
        else
            fill_integers(&cells[i]);
    }
    if (!settings.quiet)
        print(table, columns, &batch);
    rc = dft_parquet_group(file, &batch);
    for (unsigned i = 0; i < table->ncolumns; i++)
        forget(&cells[i]);
    return rc;
}

int main(int argc, char **argv)
{
    const struct dft_table_shape *table;
    struct dft_parquet *file = NULL;
    uint64_t columns;
    int rc;

    for (int i = 2; i < argc; i++)
        if (setting_set(names_of_settings, sizeof names_of_settings / sizeof *names_of_settings, argv[i]))
            return fprintf(stderr, "make_parquet: no such setting: %s\n", argv[i]), 2;
    if (argc < 2 || settings.table < 0 || settings.table >= DFT_TABLES)
        return fprintf(stderr, "usage: make_parquet FILE KEY=VALUE...\n"), 2;
    random_state = (uint64_t)settings.seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    table = dft_tables_at((enum dft_table_number)settings.table);
    columns = ~(uint64_t)settings.left_out;
    rc = dft_parquet_open(&file, argv[1], table, columns);
    for (long i = 0; i < settings.groups && !rc; i++)
        rc = put_group(file, table, columns);
    rc = dft_parquet_close(file, rc);
    if (rc)
        fprintf(stderr, "make_parquet: %s: %s\n", argv[1], strerror(-rc));
    return rc != 0;
}
