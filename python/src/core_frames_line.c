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

/* --- the memory ------------------------------------------------------------------------------- */

#define LINES 2048u

/* Lines by the content of all that they come from, so nothing here is ever out of date. Both words
 * of an entry are written without a lock. Their check shows whether the words belong together. */
static struct {
    uint64_t check; /* key ^ line */
    uint64_t line;
} known[LINES];

static uint64_t mix(uint64_t key, uint64_t word)
{
    key = (key ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 29;
}

static uint64_t key_of(const struct core_lines *lines)
{
    uint64_t key = mix((uint64_t)(lines->end - lines->at), (uint64_t)lines->first_line), word = 0;
    const uint8_t *at = lines->at;

    key = mix(key, (uint64_t)lines->offset);
    for (; lines->end - at >= 8; at += 8) {
        memcpy(&word, at, 8);
        key = mix(key, word);
    }
    word = 0;
    memcpy(&word, at, (size_t)(lines->end - at));
    return mix(mix(key, word), 1) | 1; /* an empty entry has no key */
}

int64_t core_line(const struct core_lines *lines, core_line_fn *read)
{
    uint64_t key = key_of(lines), i = key >> 48 & (LINES - 1);
    uint64_t line = __atomic_load_n(&known[i].line, __ATOMIC_RELAXED);

    if ((__atomic_load_n(&known[i].check, __ATOMIC_RELAXED) ^ line) == key)
        return (int64_t)line;
    line = (uint64_t)read(lines);
    __atomic_store_n(&known[i].line, line, __ATOMIC_RELAXED);
    __atomic_store_n(&known[i].check, key ^ line, __ATOMIC_RELAXED);
    return (int64_t)line;
}
