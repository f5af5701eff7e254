/* SPDX-License-Identifier: MIT */
/* Times of events: exact, from decimal text. */
#include "spans/moment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS 30 /* of a number that count */

struct decimal {
    unsigned __int128 digits;
    int count;    /* significant digits */
    int exponent; /* of the last one */
};

/* Reads digits with a point. Returns where they end, NULL: there is none. */
static const char *read_digits(struct decimal *decimal, const char *at, const char *end)
{
    int any = 0, behind = 0;

    for (; at < end && ((*at >= '0' && *at <= '9') || (*at == '.' && !behind)); at++) {
        if (*at == '.') {
            behind = 1;
            continue;
        }
        any = 1;
        if (decimal->count < DIGITS) {
            decimal->digits = decimal->digits * 10 + (unsigned)(*at - '0');
            decimal->count += decimal->digits > 0;
            decimal->exponent -= behind;
        } else {
            decimal->exponent += !behind;
        }
    }
    return any ? at : NULL;
}

/* Reads what follows an "e". Returns where it ends, NULL: this is no number. */
static const char *read_exponent(struct decimal *decimal, const char *at, const char *end)
{
    int negative = at < end && *at == '-', value = 0;
    const char *first = at += at < end && (*at == '-' || *at == '+');

    for (; at < end && *at >= '0' && *at <= '9'; at++)
        value = value < 1000 ? value * 10 + (*at - '0') : value;
    decimal->exponent += negative ? -value : value;
    return at > first ? at : NULL;
}

/* Ten to `power` times the digits, rounded half up. Returns 0 or -EINVAL. */
static int scale(struct decimal *decimal, int power, int64_t *ns)
{
    unsigned __int128 value = decimal->digits;
    unsigned half = 0;

    for (; power > 0 && value && value <= (unsigned __int128)DFT_SPANS_NS_MAX; power--)
        value *= 10;
    for (; power < 0 && (value || half); power++) {
        half = value % 10 >= 5;
        value /= 10;
    }
    value += half;
    if (value > (unsigned __int128)DFT_SPANS_NS_MAX)
        return -EINVAL;
    *ns = (int64_t)value;
    return 0;
}

static int is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

int dft_spans_moment_parse(const char *text, size_t length, int64_t *ns)
{
    const char *at = text, *end = text + length;
    struct decimal decimal = {0};
    int negative;

    while (at < end && is_blank(*at))
        at++;
    while (at < end && is_blank(end[-1]))
        end--;
    negative = at < end && *at == '-';
    at = read_digits(&decimal, at + (at < end && (*at == '-' || *at == '+')), end);
    if (at && at < end && (*at == 'e' || *at == 'E'))
        at = read_exponent(&decimal, at + 1, end);
    if (at != end || scale(&decimal, decimal.exponent + 9, ns))
        return -EINVAL;
    *ns = negative ? -*ns : *ns;
    return 0;
}

int dft_spans_moment_column(sqlite3_stmt *statement, int column, int64_t *ns)
{
    char number[DFT_SPANS_MOMENT_CAPACITY];
    double value;

    if (sqlite3_column_type(statement, column) == SQLITE_FLOAT) {
        value = sqlite3_column_double(statement, column);
        for (int digits = 15; digits <= 17; digits++) { /* the shortest that is this number */
            snprintf(number, sizeof number, "%.*g", digits, value);
            if (strtod(number, NULL) == value)
                break;
        }
        return dft_spans_moment_parse(number, strlen(number), ns);
    }
    if (sqlite3_column_type(statement, column) == SQLITE_NULL || !sqlite3_column_text(statement, column))
        return -EINVAL;
    return dft_spans_moment_parse((const char *)sqlite3_column_text(statement, column),
                                  (size_t)sqlite3_column_bytes(statement, column), ns);
}

const char *dft_spans_moment_text(char text[DFT_SPANS_MOMENT_CAPACITY], int64_t ns)
{
    uint64_t size = ns < 0 ? (uint64_t)-ns : (uint64_t)ns;

    snprintf(text, DFT_SPANS_MOMENT_CAPACITY, "%s%llu.%09llu", ns < 0 ? "-" : "",
             (unsigned long long)(size / 1000000000u), (unsigned long long)(size % 1000000000u));
    return text;
}

double dft_spans_moment_double(int64_t ns)
{
    char text[DFT_SPANS_MOMENT_CAPACITY];

    return strtod(dft_spans_moment_text(text, ns), NULL);
}
