/* SPDX-License-Identifier: MIT */
/* Writes JSON as a stream; see write_json.h. */
#include "base/write_json.h"

#include <math.h>
#include <string.h>

/* Length of the valid UTF-8 character at the start of s, or 0 without one. RFC 3629 allows no
 * overlong forms, no surrogates, and nothing above U+10FFFF. */
static size_t utf8_length(const unsigned char *s, size_t left)
{
    size_t n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    unsigned low = 0x80, high = 0xbf;

    if (s[0] < 0xc2 || s[0] > 0xf4 || left < n)
        return 0;
    if (s[0] == 0xe0)
        low = 0xa0;
    else if (s[0] == 0xed)
        high = 0x9f;
    else if (s[0] == 0xf0)
        low = 0x90;
    else if (s[0] == 0xf4)
        high = 0x8f;
    if (s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++)
        if (s[i] < 0x80 || s[i] > 0xbf)
            return 0;
    return n;
}

static void put_escape(FILE *out, unsigned char c)
{
    static const char letters[] = {['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};

    if (c == '"' || c == '\\')
        fprintf(out, "\\%c", c);
    else if (c < sizeof letters && letters[c])
        fprintf(out, "\\%c", letters[c]);
    else
        fprintf(out, "\\u%s%02x", c < 0x80 ? "00" : "dc", c);
}

void dft_json_quote(FILE *out, const char *bytes, size_t length)
{
    const unsigned char *s = (const unsigned char *)bytes;
    size_t from = 0, i = 0;

    putc_unlocked('"', out);
    while (i < length) {
        size_t n = 0;

        if (s[i] >= 0x20 && s[i] < 0x7f && s[i] != '"' && s[i] != '\\') {
            i++;
            continue;
        }
        if (s[i] >= 0x80)
            n = utf8_length(s + i, length - i);
        if (n) {
            i += n;
            continue;
        }
        fwrite_unlocked(s + from, 1, i - from, out);
        put_escape(out, s[i]);
        from = ++i;
    }
    fwrite_unlocked(s + from, 1, length - from, out);
    putc_unlocked('"', out);
}

void dft_json_init(struct dft_json *json, FILE *out, int pretty)
{
    memset(json, 0, sizeof *json);
    json->out = out;
    json->pretty = pretty;
}

static void new_line(struct dft_json *json)
{
    if (!json->pretty || json->depth > 2)
        return;
    putc_unlocked('\n', json->out);
    for (int i = 0; i < json->depth; i++)
        putc_unlocked(' ', json->out);
}

/* Writes what stands before a value: comma, line, key. */
static void before(struct dft_json *json, const char *key, size_t length)
{
    if (json->after_key) {
        json->after_key = 0;
        return;
    }
    if (json->depth) {
        if (json->some[json->depth])
            putc_unlocked(',', json->out);
        json->some[json->depth] = 1;
        new_line(json);
    }
    if (key) {
        dft_json_quote(json->out, key, length);
        putc_unlocked(':', json->out);
    }
}

static void before_value(struct dft_json *json, const char *key)
{
    before(json, key, key ? strlen(key) : 0);
}

static void begin(struct dft_json *json, const char *key, char bracket)
{
    before_value(json, key);
    putc_unlocked(bracket, json->out);
    if (json->depth + 1 < DFT_JSON_DEPTH)
        json->depth++;
    json->some[json->depth] = 0;
}

static void end(struct dft_json *json, char bracket)
{
    char some = json->some[json->depth];

    json->depth--;
    if (some && json->depth < 2)
        new_line(json);
    putc_unlocked(bracket, json->out);
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

/* Writes digits faster than printf, because integers make up most of a dump. */
static void put_digits(FILE *out, uint64_t value, int negative)
{
    char digits[21];
    int at = sizeof digits;

    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    if (negative)
        digits[--at] = '-';
    fwrite_unlocked(digits + at, 1, sizeof digits - (size_t)at, out);
}

void dft_json_uint(struct dft_json *json, const char *key, uint64_t value)
{
    before_value(json, key);
    put_digits(json->out, value, 0);
}

void dft_json_int(struct dft_json *json, const char *key, int64_t value)
{
    before_value(json, key);
    put_digits(json->out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0);
}

void dft_json_double(struct dft_json *json, const char *key, double value)
{
    char text[40];

    before_value(json, key);
    if (!isfinite(value)) {
        fputs("null", json->out);
        return;
    }
    snprintf(text, sizeof text - 2, "%.17g", value);
    if (!strpbrk(text, ".e"))
        strcat(text, ".0"); /* keeps it a floating-point number for readers */
    fputs(text, json->out);
}

void dft_json_bool(struct dft_json *json, const char *key, int value)
{
    before_value(json, key);
    fputs(value ? "true" : "false", json->out);
}

void dft_json_null(struct dft_json *json, const char *key)
{
    before_value(json, key);
    fputs("null", json->out);
}

void dft_json_text(struct dft_json *json, const char *key, const char *bytes, size_t length)
{
    before_value(json, key);
    dft_json_quote(json->out, bytes, length);
}

void dft_json_string(struct dft_json *json, const char *key, const char *text)
{
    if (text)
        dft_json_text(json, key, text, strlen(text));
    else
        dft_json_null(json, key);
}

void dft_json_seconds(struct dft_json *json, const char *key, uint64_t ns)
{
    char part[9];
    uint64_t rest = ns % 1000000000;

    for (int i = 8; i >= 0; i--, rest /= 10)
        part[i] = (char)('0' + rest % 10);
    before_value(json, key);
    putc_unlocked('"', json->out);
    put_digits(json->out, ns / 1000000000, 0);
    putc_unlocked('.', json->out);
    fwrite_unlocked(part, 1, sizeof part, json->out);
    putc_unlocked('"', json->out);
}

void dft_json_key(struct dft_json *json, const char *bytes, size_t length)
{
    before(json, bytes, length);
    json->after_key = 1;
}
