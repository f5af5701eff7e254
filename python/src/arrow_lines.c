/* SPDX-License-Identifier: MIT */
/* Lines of JSON, an object each, straight into columns. */
#include "arrow.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64 };

/* What is being read. Every line ends in a newline, so no test of the end is needed before a
 * closing quote is found. */
struct reader {
    struct table *table;
    const char *at;
    const char *end; /* the newline */
    size_t next;     /* the column that is expected next */
};

static struct column *find_column(struct reader *reader, const char *name, size_t length)
{
    struct table *table = reader->table;

    for (size_t i = 0; i < table->count; i++) {
        size_t number = reader->next + i < table->count ? reader->next + i : reader->next + i - table->count;
        struct column *column = &table->columns[number];

        if (column->name_length == length && !memcmp(column->name, name, length)) {
            reader->next = number + 1 < table->count ? number + 1 : 0;
            return column;
        }
    }
    return NULL;
}

/* The closing quote of the text that begins at `at`, or NULL. */
static const char *text_end(const char *at, const char *end, bool *escaped)
{
    const char *quote = memchr(at, '"', (size_t)(end - at));

    *escaped = quote && memchr(at, '\\', (size_t)(quote - at));
    if (!*escaped)
        return quote;
    for (; at < end; at++) {
        if (*at == '"')
            return at;
        if (*at == '\\')
            at++;
    }
    return NULL;
}

static int hex(const char *at)
{
    int value = 0;

    for (int i = 0; i < 4; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;

        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

static size_t put_code(char *out, int code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 63));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 63));
        out[2] = (char)(0x80 | (code & 63));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 63));
    out[2] = (char)(0x80 | (code >> 6 & 63));
    out[3] = (char)(0x80 | (code & 63));
    return 4;
}

/* One \u or a pair of them; a surrogate without its other half stands for a byte that is no UTF-8
 * and stays one. */
static const char *unescape_code(const char *at, const char *end, char *out, size_t *used, bool *surrogates)
{
    int code = end - at >= 4 ? hex(at) : -1, low;

    if (code < 0)
        return NULL;
    at += 4;
    if (code >= 0xD800 && code < 0xDC00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
        low = hex(at + 2);
        if (low >= 0xDC00 && low < 0xE000) {
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            at += 6;
        }
    }
    if (code >= 0xD800 && code < 0xE000)
        *surrogates = true;
    *used += put_code(out + *used, code);
    return at;
}

static bool unescape(const char *at, const char *end, char *out, size_t *used, bool *surrogates)
{
    static const char letters[] = "bfnrt", bytes[] = "\b\f\n\r\t";

    while (at && at < end) {
        const char *letter;

        if (*at != '\\') {
            out[(*used)++] = *at++;
            continue;
        }
        at++;
        if (*at == 'u') {
            at = unescape_code(at + 1, end, out, used, surrogates);
            continue;
        }
        letter = strchr(letters, *at);
        out[(*used)++] = letter ? bytes[letter - letters] : *at;
        at++;
    }
    return at;
}

static bool put_escaped(struct reader *reader, struct column *column, const char *at, const char *end)
{
    char *out = malloc((size_t)(end - at) + 4);
    size_t used = 0;
    bool fine;

    if (!out) {
        reader->table->failed = true;
        return true;
    }
    fine = unescape(at, end, out, &used, &column->texts.surrogates);
    if (fine)
        arrow_put_text(reader->table, column, out, used);
    free(out);
    return fine;
}

static bool read_text(struct reader *reader, struct column *column)
{
    bool escaped;
    const char *begin = reader->at + 1, *end = text_end(begin, reader->end, &escaped);

    if (!end)
        return false;
    reader->at = end + 1;
    if (!column)
        return true;
    if (escaped)
        return put_escaped(reader, column, begin, end);
    arrow_put_text(reader->table, column, begin, (size_t)(end - begin));
    return true;
}

/* An object or a list: its JSON is the text. */
static bool read_nested(struct reader *reader, struct column *column)
{
    const char *begin = reader->at;
    int depth = 0;
    bool escaped;

    for (; reader->at < reader->end; reader->at++) {
        char c = *reader->at;

        if (c == '"') {
            reader->at = text_end(reader->at + 1, reader->end, &escaped);
            if (!reader->at)
                return false;
        } else if (c == '{' || c == '[') {
            if (++depth > DEEPEST)
                return false;
        } else if ((c == '}' || c == ']') && !--depth) {
            reader->at++;
            if (column)
                arrow_put_text(reader->table, column, begin, (size_t)(reader->at - begin));
            return true;
        }
    }
    return false;
}

static bool ends_value(char c)
{
    return c == ',' || c == '}' || c == '\n' || c == ' ' || c == '\r';
}

/* A number beyond 63 bits has the same 64 bits; one with a fraction is passed over: events have
 * none. */
static bool read_number(struct reader *reader, struct column *column)
{
    const char *at = reader->at, *digits;
    bool minus = *at == '-';
    uint64_t value = 0;

    for (digits = at += minus; *at >= '0' && *at <= '9'; at++)
        value = value * 10 + (uint64_t)(*at - '0');
    if (at == digits)
        return false;
    if (ends_value(*at)) {
        if (column)
            arrow_put_int(reader->table, column, (int64_t)(minus ? 0 - value : value));
        reader->at = at;
        return true;
    }
    while (!ends_value(*at))
        at++;
    reader->at = at;
    return true;
}

static bool read_name(struct reader *reader, struct column *column, const char *name, bool is_number, int64_t value)
{
    size_t length = strlen(name);

    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, name, length) ||
        !ends_value(reader->at[length]))
        return false;
    reader->at += length;
    if (column && is_number)
        arrow_put_int(reader->table, column, value);
    return true;
}

static bool read_value(struct reader *reader, struct column *column)
{
    switch (*reader->at) {
    case '"':
        return read_text(reader, column);
    case '{':
    case '[':
        return read_nested(reader, column);
    case 'n':
        return read_name(reader, column, "null", false, 0);
    case 't':
        return read_name(reader, column, "true", true, 1);
    case 'f':
        return read_name(reader, column, "false", true, 0);
    default:
        return read_number(reader, column);
    }
}

static void skip_blanks(struct reader *reader)
{
    while (*reader->at == ' ')
        reader->at++;
}

static bool read_object(struct reader *reader)
{
    bool escaped;

    skip_blanks(reader);
    if (*reader->at++ != '{')
        return false;
    reader->next = 0;
    for (;;) {
        const char *name, *quote;

        skip_blanks(reader);
        if (*reader->at == '}')
            return true;
        if (*reader->at++ != '"')
            return false;
        name = reader->at;
        quote = text_end(name, reader->end, &escaped);
        if (!quote)
            return false;
        reader->at = quote + 1;
        skip_blanks(reader);
        if (*reader->at++ != ':')
            return false;
        skip_blanks(reader);
        if (!read_value(reader, find_column(reader, name, (size_t)(quote - name))))
            return false;
        skip_blanks(reader);
        if (*reader->at == ',')
            reader->at++;
        else if (*reader->at != '}')
            return false;
    }
}

size_t arrow_read_lines(struct table *table, const char *text, size_t length, size_t *wrong)
{
    const char *at = text, *end;

    while (!table->failed && (end = memchr(at, '\n', length - (size_t)(at - text)))) {
        struct reader reader = {.table = table, .at = at, .end = end};

        at = end + 1;
        if (end == reader.at)
            continue;
        /* What a wrong line has given stays in its row: nothing is lost, and the caller counts it. */
        if (!read_object(&reader))
            ++*wrong;
        arrow_end_row(table);
    }
    return (size_t)(at - text);
}
