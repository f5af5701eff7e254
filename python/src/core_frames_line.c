/* SPDX-License-Identifier: MIT */
/* The tables that tell which line an instruction is of, in the three forms that CPython has had.
 * They are read in place; a table that is damaged ends early. */
#include "core_frames_inside.h"

/* Pairs: bytes of code, lines (a signed byte). */
int64_t core_line_3_9(const struct core_lines *lines)
{
    int64_t line = lines->first_line, offset = 0;

    for (const uint8_t *at = lines->at; lines->end - at >= 2; at += 2) {
        offset += at[0];
        if (offset > lines->offset)
            break;
        line += (int8_t)at[1];
    }
    return line;
}

/* Pairs again; the lines come before the code that they are of. -128: code of no line. */
int64_t core_line_3_10(const struct core_lines *lines)
{
    int64_t line = lines->first_line, end = 0;

    if (lines->offset < 0)
        return line;
    for (const uint8_t *at = lines->at; lines->end - at >= 2; at += 2) {
        end += at[0];
        if ((int8_t)at[1] != -128)
            line += (int8_t)at[1];
        if (lines->offset < end)
            break;
    }
    return line;
}

/* A number in bytes of six bits, the lowest first; the lowest bit is the sign. */
static int64_t signed_number(const uint8_t *at, const uint8_t *end)
{
    uint64_t number = 0;

    for (unsigned shift = 0; at < end && shift < 60; shift += 6) {
        number |= (uint64_t)(*at & 63) << shift;
        if (!(*at++ & 64))
            break;
    }
    return number & 1 ? -(int64_t)(number >> 1) : (int64_t)(number >> 1);
}

/* Entries: a byte with its highest bit set (kind, number of code units), then bytes without. */
int64_t core_line_3_11(const struct core_lines *lines)
{
    int64_t line = lines->first_line, end = 0;
    const uint8_t *at = lines->at;

    if (lines->offset < 0)
        return line;
    while (at < lines->end) {
        unsigned kind = *at >> 3 & 15;

        end += ((*at & 7) + 1) * 2;
        if (kind == 13 || kind == 14)
            line += signed_number(at + 1, lines->end);
        else if (kind >= 10 && kind <= 12)
            line += kind - 10;
        if (lines->offset < end)
            break;
        for (at++; at < lines->end && !(*at & 128); at++)
            ;
    }
    return line;
}
