/* SPDX-License-Identifier: MIT */
/* Cells of rows that another database, or JSON in SQLite, gives. */
#ifndef DFT_SPANS_CELLS_H
#define DFT_SPANS_CELLS_H

#include <sqlite3.h>

#include "format/text.h"

/* The text of a cell, valid until the next row; bytes NULL: there is no value. */
struct dft_text dft_span_cell_text(sqlite3_stmt *row, int column);
/* The time in a cell: text as dft_log_time_parse reads it, or a number of Unix seconds. Returns 0, or
 * -EINVAL: it is none. */
int dft_span_cell_time(sqlite3_stmt *row, int column, int64_t *ns);

#endif
