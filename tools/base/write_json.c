/* SPDX-License-Identifier: MIT */
/* Writes JSON as a stream; see write_json.h. */
#include "base/write_json.h"

#include <math.h>
#include <string.h>

void dft_json_init(struct dft_json *json, FILE *out, int pretty)
{
    dft_line_init(&json->line, out);
    json->depth = 0;
    json->pretty = pretty;
    json->after_key = 0;
    memset(json->some, 0, sizeof json->some);
}

void dft_json_init_unicode(struct dft_json *json, FILE *out)
{
    dft_json_init(json, out, 0);
    json->line.is_unicode = 1;
}

void dft_json_new_line(struct dft_json *json)
{
    if (!json->pretty || json->depth > 2)
        return;
    dft_line_char(&json->line, '\n');
    for (int i = 0; i < json->depth; i++)
        dft_line_char(&json->line, ' ');
}

static void begin(struct dft_json *json, const char *key, char bracket)
{
    DFT_JSON_BEFORE(json, key);
    dft_line_char(&json->line, bracket);
    if (json->depth + 1 < DFT_JSON_DEPTH)
        json->depth++;
    json->some[json->depth] = 0;
}

static void end(struct dft_json *json, char bracket)
{
    char some = json->some[json->depth];

    json->depth--;
    if (some && json->depth < 2)
        dft_json_new_line(json);
    dft_line_char(&json->line, bracket);
    if (!json->depth)
        dft_line_flush(&json->line);
}

void dft_json_object(struct dft_json *json, const char *key)
{
    begin(json, key, '{');
}

void dft_json_array(struct dft_json *json, const char *key)
{
    begin(json, key, '[');
}

void dft_json_end_object(struct dft_json *json)
{
    end(json, '}');
}

void dft_json_end_array(struct dft_json *json)
{
    end(json, ']');
}

static void put_word(struct dft_json *json, const char *key, const char *word)
{
    DFT_JSON_BEFORE(json, key);
    dft_line_bytes(&json->line, word, strlen(word));
}

void dft_json_number(struct dft_line *line, double value)
{
    char text[40] = "null";

    if (isfinite(value)) {
        snprintf(text, sizeof text - 2, "%.17g", value);
        if (!strpbrk(text, ".e"))
            strcat(text, ".0"); /* keeps it a floating-point number for readers */
    }
    dft_line_bytes(line, text, strlen(text));
}

void dft_json_bool(struct dft_json *json, const char *key, int value)
{
    put_word(json, key, value ? "true" : "false");
}

void dft_json_null(struct dft_json *json, const char *key)
{
    put_word(json, key, "null");
}

void dft_json_string(struct dft_json *json, const char *key, const char *text)
{
    if (text)
        dft_json_text(json, key, text, strlen(text));
    else
        dft_json_null(json, key);
}

void dft_json_known_uint(struct dft_json *json, const char *key, int known, uint64_t value)
{
    if (known)
        dft_json_uint(json, key, value);
    else
        dft_json_null(json, key);
}

void dft_json_known_int(struct dft_json *json, const char *key, int known, int64_t value)
{
    if (known)
        dft_json_int(json, key, value);
    else
        dft_json_null(json, key);
}

void dft_json_known_double(struct dft_json *json, const char *key, int known, double value)
{
    if (known)
        dft_json_double(json, key, value);
    else
        dft_json_null(json, key);
}

void dft_json_strings(struct dft_json *json, const char *key, char *const *list, size_t count)
{
    dft_json_array(json, key);
    for (size_t i = 0; i < count; i++)
        dft_json_string(json, NULL, list[i]);
    dft_json_end_array(json);
}

void dft_json_key(struct dft_json *json, const char *bytes, size_t length)
{
    dft_json_before(json, NULL, 0);
    dft_line_quote(&json->line, bytes, length);
    dft_line_char(&json->line, ':');
    json->after_key = 1;
}
