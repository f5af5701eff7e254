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

#include "format/text.h"

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

/* TIME: Unix ns (UTC), an integer. Tables hold UNSIGNED as the integer of the same 64 bits, and an OBJECT of JSON as text. */
enum dft_cell_type {
    DFT_CELL_INTEGER,
    DFT_CELL_TIME,
    DFT_CELL_REAL,
    DFT_CELL_TEXT,
    DFT_CELL_UNSIGNED = DFT_CELL_INTEGER,
    DFT_CELL_OBJECT = DFT_CELL_TEXT
};

struct dft_table_column {
    const char *name;
    enum dft_cell_type type;
    const char *unit; /* "ns", "bytes"; "": none */
    const char *help; /* what it says, and where it comes from */
};

struct dft_table_shape {
    const char *name, *help;
    const struct dft_table_column *columns;
    unsigned ncolumns; /* at most 64 */
};

/* A table, by number or by name (NULL: there is none). */
const struct dft_table_shape *dft_tables_at(enum dft_table_number number);
const struct dft_table_shape *dft_tables_find(const char *name, enum dft_table_number *number);
/* Cells without a value: SQL's NULL. A real one is NaN. */
#define DFT_CELL_NULL INT64_MIN
#define DFT_CODE_NULL UINT32_MAX

/* The cells of one column of a batch; one of the three lists is there, by the column's type. A
 * column that was not requested has none. */
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

/* In which order rows come: as `order by time`, `name` or `rank` says (byte by byte; null first).
 * For events alone, and for one rank of MPI. */
enum dft_table_order { DFT_ORDER_NONE, DFT_ORDER_TIME, DFT_ORDER_NAME, DFT_ORDER_RANK };

struct dft_table_request {
    enum dft_table_number table;
    uint64_t columns;                /* 1 << number of the column; UINT64_MAX: all */
    const struct dft_filter *filter; /* dft_filter_begin has been called */
    enum dft_table_order order;
    uint32_t rows; /* of a batch, at most; 0: 65,536 */
    /* events, in no order: a batch is a part, some whole blocks of as few ranks and as little time as
     * can be, and its rows are in order of time. It may have more than `rows` rows where one block
     * has more, and fewer where they take more than `bytes`. */
    int parts;
    uint64_t bytes; /* of a batch of events in parts, or in order of time; 0: no limit */
    int every;      /* events, in order of time: also those that `summary` does not count: in flight, instants ... */
    /* not NULL: once it is not 0, events, rows and counters are not read on, and the result is
     * -ECANCELED; also where nothing passes, so that `take` is not called */
    const _Atomic int *stop;
};

/* Takes a batch, which is valid during the call. Returns 0 to go on; anything else ends the reading.
 * Without an order it is called from several threads at once; `worker` tells them apart, and is
 * below dft_source_threads. */
typedef int dft_table_take(void *context, unsigned worker, const struct dft_table_batch *batch);

/* Gives all rows that pass. Several threads may read events, rows and counters of one source at
 * once; other tables take turns, so their `take` must not wait for another reading. The calling
 * thread must be registered (dft_names_enter). ROWS stand for whole intervals: a filter by time
 * takes those that begin in it, and filters by file do not narrow them. With several ranks of MPI each gives its own share, and the call is
 * collective. Returns 0, -errno, or what `take` returned. What cannot be read is a note of the
 * source. */
int dft_tables_read(struct dft_source *source, const struct dft_table_request *request, dft_table_take *take,
                    void *context);

#endif
