/* SPDX-License-Identifier: MIT */
/* The tables of a database of spans. docs/spans.md describes their columns. */
#ifndef DFT_SPANS_SCHEMA_H
#define DFT_SPANS_SCHEMA_H

#include <sqlite3.h>

/* Is it a database of spans, or empty? Else says so, for what is in it stays as it is. Returns 0,
 * -EINVAL, or an error of SQLite. */
int dft_spans_schema_check(sqlite3 *db);
/* Makes the tables that are not there yet, and the indexes that keep rows from coming twice. */
int dft_spans_schema_make(sqlite3 *db);
/* Makes the indexes for queries. It is faster behind a large import than before it. */
int dft_spans_schema_index(sqlite3 *db);

#endif
