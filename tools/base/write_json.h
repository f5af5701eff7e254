/* SPDX-License-Identifier: MIT */
/* Writes JSON as a stream. The caller opens and closes objects and arrays; the writer adds the
 * commas. The writer keeps only the nesting.
 *
 * Strings are bytes. UTF-8 stays as it is, but for what a terminal acts on: control characters and
 * marks that turn the direction of a text become \uNNNN. Quotes and backslashes are escaped. Each byte that is not part of valid UTF-8 becomes \udc80-\udcff, as in Python's surrogateescape.
 * Integers are exact. One thread. */
#ifndef DFT_WRITE_JSON_H
#define DFT_WRITE_JSON_H

#include <stdint.h>
#include <stdio.h>

#include "base/write_line.h"

#define DFT_JSON_DEPTH 32

struct dft_json {
    struct dft_line line; /* reaches the stream when the outermost value ends */
    int depth;
    /* for people: one member a line in the outer two levels; else all in one line */
    int pretty;
    char some[DFT_JSON_DEPTH]; /* does this level have a member already? */
    char after_key;
};

void dft_json_init(struct dft_json *json, FILE *out, int pretty);
/* For files that other programs read, of which some take no lone surrogates: bytes that are no UTF-8 are U+FFFD. */
void dft_json_init_unicode(struct dft_json *json, FILE *out);

/* `key` NULL: an element of an array, or the outermost value. Keys stand there as they are: those
 * that come from a trace take dft_json_key. */
void dft_json_object(struct dft_json *json, const char *key);
void dft_json_array(struct dft_json *json, const char *key);
void dft_json_end_object(struct dft_json *json);
void dft_json_end_array(struct dft_json *json);

void dft_json_new_line(struct dft_json *json);

/* Writes what stands before a value: comma, line, key. */
static inline __attribute__((always_inline)) void dft_json_before(struct dft_json *json, const char *key, size_t length)
{
    char *at;

    if (json->after_key) {
        json->after_key = 0;
        return;
    }
    if (json->depth) {
        at = dft_line_room(&json->line, 1);
        *at = ',';
        json->line.at += json->some[json->depth];
        json->some[json->depth] = 1;
        if (json->pretty)
            dft_json_new_line(json);
    }
    if (!key)
        return;
    at = dft_line_room(&json->line, length + 3);
    *at = '"';
    memcpy(at + 1, key, length);
    memcpy(at + 1 + length, "\":", 2);
    json->line.at = at + length + 3;
}

/* The key is most often known to the compiler. */
#define DFT_JSON_BEFORE(json, key) dft_json_before(json, key, (key) ? strlen(key) : 0)

static inline void dft_json_uint(struct dft_json *json, const char *key, uint64_t value)
{
    DFT_JSON_BEFORE(json, key);
    dft_line_uint(&json->line, value);
}

static inline void dft_json_int(struct dft_json *json, const char *key, int64_t value)
{
    DFT_JSON_BEFORE(json, key);
    dft_line_int(&json->line, value);
}

static inline void dft_json_text(struct dft_json *json, const char *key, const char *bytes, size_t length)
{
    DFT_JSON_BEFORE(json, key);
    dft_line_quote(&json->line, bytes, length);
}

/* Writes ns since the epoch as a string of seconds with nine decimals. */
static inline void dft_json_seconds(struct dft_json *json, const char *key, uint64_t ns)
{
    DFT_JSON_BEFORE(json, key);
    dft_line_char(&json->line, '"');
    json->line.at = dft_put_billionths(dft_line_room(&json->line, DFT_LINE_DIGITS), ns);
    dft_line_char(&json->line, '"');
}

/* Writes ns as a number of microseconds with three decimals. */
static inline void dft_json_microseconds(struct dft_json *json, const char *key, uint64_t ns)
{
    DFT_JSON_BEFORE(json, key);
    json->line.at = dft_put_thousandths(dft_line_room(&json->line, DFT_LINE_DIGITS), ns);
}

/* 17 digits; not finite: null */
void dft_json_number(struct dft_line *line, double value);
static inline void dft_json_double(struct dft_json *json, const char *key, double value)
{
    DFT_JSON_BEFORE(json, key);
    dft_json_number(&json->line, value);
}

void dft_json_bool(struct dft_json *json, const char *key, int value);
void dft_json_null(struct dft_json *json, const char *key);
void dft_json_string(struct dft_json *json, const char *key, const char *text); /* NULL: null */
/* null where the number is not known */
void dft_json_known_uint(struct dft_json *json, const char *key, int known, uint64_t value);
void dft_json_known_int(struct dft_json *json, const char *key, int known, int64_t value);
void dft_json_known_double(struct dft_json *json, const char *key, int known, double value);
void dft_json_strings(struct dft_json *json, const char *key, char *const *list, size_t count);
/* Writes a key from bytes (that of an argument). Its value must follow. */
void dft_json_key(struct dft_json *json, const char *bytes, size_t length);

#endif
