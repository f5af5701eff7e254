/* SPDX-License-Identifier: MIT */
/* The tables of a source: events, rows, files, processes, regions, counters, jobs, notes. Parquet,
 * SQLite and SQL have them from here. tables.def lists their columns, and docs/sql.md says the same.
 *
 * A READER asks for one table and some columns, and gets batches. A batch has its cells column by
 * column. Texts are numbers ("codes") into a list that the batch has for the column, so that a
 * reader looks at each different text of a batch once. */
#ifndef DFT_TABLES_H
#define DFT_TABLES_H

#include <stdint.h>

#include "format/event.h"

struct dft_source;
struct dft_filter;

enum dft_table_number {
    DFT_TABLE_EVENTS,
    DFT_TABLE_ROWS,
    DFT_TABLE_FILES,
    DFT_TABLE_PROCESSES,
    DFT_TABLE_REGIONS,
    DFT_TABLE_COUNTERS,
    DFT_TABLE_JOBS,
    DFT_TABLE_NOTES,
    DFT_TABLES
};

/* TIME: Unix ns (UTC), an integer. */
enum dft_cell_type { DFT_CELL_INTEGER, DFT_CELL_TIME, DFT_CELL_REAL, DFT_CELL_TEXT };

struct dft_table_column {
    const char *name;
    enum dft_cell_type type;
    const char *unit; /* "ns", "bytes"; "": none */
    const char *help; /* what it says, and where it comes from */
};

struct dft_table {
    const char *name, *help;
    const struct dft_table_column *columns;
    unsigned ncolumns; /* at most 64 */
};

/* A table, by number or by name (NULL: there is none). */
const struct dft_table *dft_table_at(enum dft_table_number number);
const struct dft_table *dft_table_find(const char *name, enum dft_table_number *number);
/* The number of a column of this name, or -1. */
int dft_table_column_of(const struct dft_table *table, const char *name);

/* Cells without a value: SQL's NULL. A real one is NaN. */
#define DFT_CELL_NULL INT64_MIN
#define DFT_CODE_NULL UINT32_MAX

/* The cells of one column of a batch; one of the three lists is there, by the column's type. A
 * column that was not asked for has none. */
struct dft_cells {
    const int64_t *integers; /* INTEGER, TIME */
    const double *reals;
    const uint32_t *codes; /* TEXT: positions in `texts` */
    const struct dft_text *texts;
    uint32_t ntexts;
};

struct dft_table_batch {
    uint32_t count;                /* rows */
    const struct dft_cells *cells; /* by number of the column */
};

/* ORDERED: rows come in this order. `name` and `rank` come in no order of their own, but those with
 * one value come together; within them time ascends. These are for events alone. */
enum dft_table_order { DFT_ORDER_NONE, DFT_ORDER_TIME, DFT_ORDER_NAME, DFT_ORDER_RANK };

struct dft_table_request {
    enum dft_table_number table;
    uint64_t columns;                /* 1 << number of the column; UINT64_MAX: all */
    const struct dft_filter *filter; /* dft_filter_begin has been called */
    enum dft_table_order order;
    /* rows of a batch, at most; 0: some 65,536. With DFT_ORDER_NONE and `parts`, a batch is a part:
     * events of as few ranks and as little time as can be, in order of time. */
    uint32_t rows;
    int parts;
};

/* Takes a batch, which is valid during the call. Returns 0 to go on; anything else ends the reading.
 * Without an order it is called from several threads at once; `worker` tells them apart, and is
 * below dft_source_threads. */
typedef int dft_table_take(void *context, unsigned worker, const struct dft_table_batch *batch);

/* Gives all rows that pass. Several threads may read one source at once. The calling thread must be
 * registered (dft_names_enter). With several ranks of MPI each gives its own share, and the call is
 * collective. Returns 0, -errno, or what `take` returned. What cannot be read is a note of the
 * source. */
int dft_table_read(struct dft_source *source, const struct dft_table_request *request, dft_table_take *take,
                   void *context);

#endif
