/* SPDX-License-Identifier: MIT */
/* Times of events: Unix seconds in text, and nanoseconds. */
#ifndef DFT_SPANS_MOMENT_H
#define DFT_SPANS_MOMENT_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

/* Times are within this many ns of 1970, so that all differences fit: 146 years. */
#define DFT_SPANS_NS_MAX INT64_C(4600000000000000000)

/* Reads a decimal number of seconds, to the nearest ns. Returns 0, or -EINVAL: it is no number, or
 * is out of bounds. */
int dft_spans_moment_parse(const char *text, size_t length, int64_t *ns);
/* The same of a column of SQLite: text, or a number. */
int dft_spans_moment_column(sqlite3_stmt *statement, int column, int64_t *ns);
/* Seconds with nine decimals. Returns `text`. */
#define DFT_SPANS_MOMENT_CAPACITY 32
const char *dft_spans_moment_text(char text[DFT_SPANS_MOMENT_CAPACITY], int64_t ns);
/* The double that is nearest to these seconds. */
double dft_spans_moment_double(int64_t ns);

#endif
