/* SPDX-License-Identifier: MIT */
/* Prints a table as lines of JSON, as dft_tables_read gives it, for tests/tools/test_tables.py:
 *
 *     read_tables TABLE ORDER ROWS PATH...      ORDER: none, time, name, rank, parts or count
 *
 * `parts` prints a line with null before each batch. `count` reads no column and prints the rows. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_json.h"
#include "mpi/comm.h"
#include "views/filter.h"
#include "judge/source.h"
#include "object/source_notes.h"
#include "tables/tables.h"

struct printing {
    const struct dft_table_shape *table;
    pthread_mutex_t lock;
    uint64_t rows;
    int parts;
};

static void print_cell(struct dft_json *json, const struct dft_table_column *column, const struct dft_cells *cells,
                       uint32_t row)
{
    if (column->type == DFT_CELL_TEXT) {
        uint32_t code = cells->codes[row];

        if (code == DFT_CODE_NULL)
            dft_json_null(json, column->name);
        else
            dft_json_text(json, column->name, cells->texts[code].bytes, cells->texts[code].length);
    } else if (column->type == DFT_CELL_REAL) {
        if (isnan(cells->reals[row]))
            dft_json_null(json, column->name);
        else
            dft_json_double(json, column->name, cells->reals[row]);
    } else {
        dft_json_known_int(json, column->name, cells->integers[row] != DFT_CELL_NULL, cells->integers[row]);
    }
}

static int print(void *context, unsigned worker, const struct dft_table_batch *batch)
{
    struct printing *printing = context;

    (void)worker;
    pthread_mutex_lock(&printing->lock);
    printing->rows += batch->count;
    if (printing->parts)
        puts("null");
    for (uint32_t row = 0; row < batch->count && printing->table; row++) {
        struct dft_json json;

        dft_json_init(&json, stdout, 0);
        dft_json_object(&json, NULL);
        for (unsigned i = 0; i < printing->table->ncolumns; i++)
            print_cell(&json, &printing->table->columns[i], &batch->cells[i], row);
        dft_json_end_object(&json);
        putchar('\n');
    }
    pthread_mutex_unlock(&printing->lock);
    return 0;
}

static enum dft_table_order order_of(const char *word)
{
    return !strcmp(word, "time")   ? DFT_ORDER_TIME
           : !strcmp(word, "name") ? DFT_ORDER_NAME
           : !strcmp(word, "rank") ? DFT_ORDER_RANK
                                   : DFT_ORDER_NONE;
}

static int run(int argc, char **argv)
{
    struct dft_source_options options = {.paths = argv + 4, .npaths = argc - 4, .quiet = 1};
    struct printing printing = {.lock = PTHREAD_MUTEX_INITIALIZER, .parts = argc > 4 && !strcmp(argv[2], "parts")};
    struct dft_table_request request = {0};
    struct dft_filter filter;
    struct dft_source *source;
    int rc;

    if (argc < 5 || !dft_tables_find(argv[1], &request.table) || dft_source_open(&source, &options))
        return 2;
    dft_filter_init(&filter);
    rc = dft_filter_begin(&filter, source);
    request.filter = &filter;
    request.order = order_of(argv[2]);
    request.parts = printing.parts;
    request.rows = (uint32_t)strtoul(argv[3], NULL, 10);
    if (strcmp(argv[2], "count")) {
        printing.table = dft_tables_at(request.table);
        request.columns = UINT64_MAX;
    }
    rc = rc ? rc : dft_tables_read(source, &request, print, &printing);
    if (!printing.table)
        printf("%" PRIu64 "\n", printing.rows);
    dft_filter_end(&filter);
    dft_filter_fini(&filter);
    dft_source_close(source);
    return rc ? 1 : 0;
}

int main(int argc, char **argv)
{
    return dft_comm_main(argc, argv, run);
}
