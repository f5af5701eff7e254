/* SPDX-License-Identifier: MIT */
/* The rows of a statement, as a table for people, as JSON, or as CSV. */
#ifndef DFT_SQL_PRINT_H
#define DFT_SQL_PRINT_H

#include <stdint.h>

#include "sql/sql.h"

/* Steps a statement to its end, and prints what it gives. *rows: how many. Returns 0 or an error of
 * SQLite; SQLITE_NOMEM as well for want of memory here. */
int dft_sql_print(sqlite3_stmt *statement, enum dft_sql_form form, uint64_t *rows);

/* The same for JSON and CSV, which need to hold no rows. */
int dft_sql_print_json(sqlite3_stmt *statement, uint64_t *rows);
int dft_sql_print_csv(sqlite3_stmt *statement, uint64_t *rows);

#endif
