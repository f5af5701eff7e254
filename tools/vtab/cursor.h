/* SPDX-License-Identifier: MIT */
/* The methods of cursors, as SQLite calls them. */
#ifndef DFT_VTAB_CURSOR_H
#define DFT_VTAB_CURSOR_H

#include "vtab/api.h"

int dft_cursor_open(sqlite3_vtab *base, sqlite3_vtab_cursor **result);
int dft_cursor_close(sqlite3_vtab_cursor *base);
int dft_cursor_filter(sqlite3_vtab_cursor *base, int number, const char *text, int nvalues, sqlite3_value **values);
int dft_cursor_next(sqlite3_vtab_cursor *base);
int dft_cursor_is_over(sqlite3_vtab_cursor *base);
int dft_cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number);
int dft_cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *number);

#endif
