/* SPDX-License-Identifier: MIT */
/* Cells of rows. */
#include "spans/cells.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spans/log_time.h"

struct dft_text dft_span_cell_text(sqlite3_stmt *row, int column)
{
    const char *bytes = (const char *)sqlite3_column_text(row, column);

    return (struct dft_text){bytes, bytes ? (uint32_t)sqlite3_column_bytes(row, column) : 0};
}

/* The shortest decimal that is this number: what its writer wrote. */
static void shortest(double value, char text[64])
{
    double integral = value < 1e10 && value > 0 ? (double)(int64_t)value : 0;

    for (int decimals = integral == value ? 0 : 1; decimals <= 9; decimals++) {
        snprintf(text, 64, "%.*f", decimals, value);
        if (strtod(text, NULL) == value)
            return;
    }
}

int dft_span_cell_time(sqlite3_stmt *row, int column, int64_t *ns)
{
    char number[64];
    struct dft_text text;
    size_t parsed; /* 0: no time, and *ns is not set, though an empty text is as long */

    if (sqlite3_column_type(row, column) == SQLITE_FLOAT) {
        shortest(sqlite3_column_double(row, column), number);
        text = dft_text_from(number);
    } else {
        text = dft_span_cell_text(row, column);
    }
    parsed = text.bytes && text.length < sizeof number ? dft_log_time_parse(text.bytes, text.length, ns) : 0;
    return parsed && parsed == text.length ? 0 : -EINVAL;
}
