/* SPDX-License-Identifier: MIT */
/* Writes JSON as a stream. The caller opens and closes objects and arrays; the writer adds the
 * commas. The writer keeps only the nesting.
 *
 * Strings are bytes. UTF-8 stays as it is. Control characters, quotes and backslashes are escaped.
 * Each byte that is not part of valid UTF-8 becomes \udc80-\udcff, as in Python's surrogateescape.
 * Integers are exact. One thread. */
#ifndef DFT_WRITE_JSON_H
#define DFT_WRITE_JSON_H

#include <stdint.h>
#include <stdio.h>

#include "format/event.h"

#define DFT_JSON_DEPTH 32

struct dft_json {
    FILE *out;
    int depth;
    /* for people: one member a line in the outer two levels; else all in one line */
    int pretty;
    char some[DFT_JSON_DEPTH]; /* does this level have a member already? */
    char after_key;
};

void dft_json_init(struct dft_json *json, FILE *out, int pretty);

/* `key` NULL: an element of an array, or the outermost value. */
void dft_json_object(struct dft_json *json, const char *key);
void dft_json_array(struct dft_json *json, const char *key);
void dft_json_end_object(struct dft_json *json);
void dft_json_end_array(struct dft_json *json);

void dft_json_uint(struct dft_json *json, const char *key, uint64_t value);
void dft_json_int(struct dft_json *json, const char *key, int64_t value);
/* 17 digits; not finite: null */
void dft_json_double(struct dft_json *json, const char *key, double value);
void dft_json_bool(struct dft_json *json, const char *key, int value);
void dft_json_null(struct dft_json *json, const char *key);
void dft_json_text(struct dft_json *json, const char *key, const char *bytes, size_t length);
void dft_json_string(struct dft_json *json, const char *key, const char *text); /* NULL: null */
/* Writes ns since the epoch as a string of seconds with nine decimals. */
void dft_json_seconds(struct dft_json *json, const char *key, uint64_t ns);
/* Writes a key from bytes (that of an argument). Its value must follow. */
void dft_json_key(struct dft_json *json, const char *bytes, size_t length);

/* Writes only the quoted string. */
void dft_json_quote(FILE *out, const char *bytes, size_t length);

#endif
