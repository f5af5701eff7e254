/* SPDX-License-Identifier: MIT */
/* Numbers and texts into a line; see write_line.h. Texts are looked at eight bytes at a time. */
#include "base/write_line.h"

#include <stdarg.h>
#include <stddef.h>

#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)
#define WORD  sizeof(uint64_t)

void dft_line_flush(struct dft_line *line)
{
    fwrite_unlocked(line->bytes, 1, (size_t)(line->at - line->bytes), line->out);
    line->at = line->bytes;
}

void dft_line_bytes(struct dft_line *line, const char *bytes, size_t length)
{
    if (length > DFT_LINE_BYTES) {
        dft_line_flush(line);
        fwrite_unlocked(bytes, 1, length, line->out);
        return;
    }
    memcpy(dft_line_room(line, length), bytes, length);
    line->at += length;
}

void dft_line_format(struct dft_line *line, const char *format, ...)
{
    char *at = dft_line_room(line, 128);
    va_list list;
    int n;

    va_start(list, format);
    n = vsnprintf(at, 128, format, list);
    va_end(list);
    line->at += n < 0 ? 0 : n < 128 ? n : 127;
}

/* --- numbers ---------------------------------------------------------------------------------- */

static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                            "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                            "8081828384858687888990919293949596979899";

static inline void put_pair(char *at, uint32_t value)
{
    memcpy(at, pairs + 2 * (size_t)value, 2);
}

/* Eight digits. The divisions do not wait for each other. */
static inline void put_eight(char *at, uint32_t value)
{
    uint32_t high = value / 10000, low = value % 10000;

    put_pair(at, high / 100);
    put_pair(at + 2, high % 100);
    put_pair(at + 4, low / 100);
    put_pair(at + 6, low % 100);
}

/* Writes the digits up to `end`. */
static inline char *put_digits(char *end, uint64_t value)
{
    uint32_t rest;

    for (; value >= 100000000; value /= 100000000)
        put_eight(end -= 8, (uint32_t)(value % 100000000));
    for (rest = (uint32_t)value; rest >= 100; rest /= 100)
        put_pair(end -= 2, rest % 100);
    if (rest >= 10)
        put_pair(end -= 2, rest);
    else
        *--end = (char)('0' + rest);
    return end;
}

/* How many digits a number has. A digit is 3.32 bits. */
static inline unsigned count_digits(uint64_t value)
{
    static const uint64_t powers[] = {0,
                                      10,
                                      100,
                                      1000,
                                      10000,
                                      100000,
                                      1000000,
                                      10000000,
                                      100000000,
                                      1000000000,
                                      10000000000,
                                      100000000000,
                                      1000000000000,
                                      10000000000000,
                                      100000000000000,
                                      1000000000000000,
                                      10000000000000000,
                                      100000000000000000,
                                      1000000000000000000,
                                      10000000000000000000u};
    unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1), digits = bits * 1233 >> 12;

    return digits + (value >= powers[digits]);
}

/* The digits go where they belong, not by way of another place: bytes that were just written one by
 * one are slow to copy. */
static inline char *put_number(char *at, uint64_t value)
{
    at += count_digits(value);
    put_digits(at, value);
    return at;
}

char *dft_digits(char *end, uint64_t value)
{
    return put_digits(end, value);
}

char *dft_put_uint(char *at, uint64_t value)
{
    return put_number(at, value);
}

char *dft_put_int(char *at, int64_t value)
{
    if (value < 0)
        *at++ = '-';
    return put_number(at, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static inline __attribute__((always_inline)) char *put_decimal(char *at, uint64_t value, uint64_t unit,
                                                               unsigned decimals)
{
    at = put_number(at, value / unit);
    put_digits(at + decimals + 1, value % unit + unit); /* a one, then the decimals with their zeros */
    *at = '.';
    return at + decimals + 1;
}

char *dft_put_thousandths(char *at, uint64_t value)
{
    return put_decimal(at, value, 1000, 3);
}

char *dft_put_billionths(char *at, uint64_t value)
{
    return put_decimal(at, value, 1000000000, 9);
}

/* --- texts ------------------------------------------------------------------------------------ */

/* Not 0 when a byte of the word is this one. */
static inline uint64_t has(uint64_t word, char byte)
{
    uint64_t v = word ^ ONES * (unsigned char)byte;

    return (v - ONES) & ~v & HIGHS;
}

/* Not 0 when a byte is no printable ASCII. */
static inline uint64_t is_special(uint64_t word)
{
    return (word | (word - ONES * 0x20) | (word + ONES)) & HIGHS;
}

static inline uint64_t load(const char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

/* RFC 3629 allows no overlong forms, no surrogates, and nothing above U+10FFFF. */
size_t dft_utf8_length(const char *bytes, size_t left)
{
    const unsigned char *s = (const unsigned char *)bytes;
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

/* The character when a terminal or a browser acts on it instead of showing it, else 0: controls of
 * U+0080-U+009F, ends of lines, and marks that turn the direction of what follows. `n`: its bytes. */
static unsigned acted_on(const char *bytes, size_t n)
{
    const unsigned char *s = (const unsigned char *)bytes;
    unsigned c =
        n == 2 ? (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu) : (s[0] & 0xfu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);

    if (n == 2)
        return c < 0xa0 || c == 0x61c ? c : 0;
    if (n != 3 || s[0] != 0xe2)
        return 0;
    return c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ? c : 0;
}

static const char hex[] = "0123456789abcdef";

static char *put_u_escape(char *at, unsigned c)
{
    *at++ = '\\';
    *at++ = 'u';
    for (int shift = 12; shift >= 0; shift -= 4)
        *at++ = hex[c >> shift & 15];
    return at;
}

/* A byte that is no part of UTF-8, a control character, a quote or a backslash, for JSON. */
static char *put_json_escape(char *at, unsigned char c)
{
    static const char letters[] = {['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};

    if (c != '"' && c != '\\' && (c >= sizeof letters || !letters[c]))
        return put_u_escape(at, c < 0x80 ? c : 0xdc00u + c);
    *at++ = '\\';
    *at++ = c == '"' || c == '\\' ? (char)c : letters[c];
    return at;
}

static inline int is_ascii(unsigned char c)
{
    return c >= 0x20 && c < 0x7f;
}

static inline int is_plain(unsigned char c)
{
    return is_ascii(c) && c != '"' && c != '\\';
}

/* What is not plain, at the beginning of a text: a character of UTF-8, or an escape. Returns how
 * many bytes that was. */
static __attribute__((noinline)) size_t quote_special(struct dft_line *line, const char *bytes, size_t left)
{
    unsigned char c = (unsigned char)*bytes;
    size_t n = c >= 0x80 ? dft_utf8_length(bytes, left) : 0;
    unsigned acting = n ? acted_on(bytes, n) : 0;

    if (acting)
        line->at = put_u_escape(dft_line_room(line, WORD), acting);
    else if (n)
        dft_line_bytes(line, bytes, n);
    else if (c >= 0x80 && line->is_unicode)
        dft_line_word(line, "\xef\xbf\xbd");
    else
        line->at = put_json_escape(dft_line_room(line, WORD), c);
    return n ? n : 1;
}

void dft_line_quote(struct dft_line *line, const char *bytes, size_t length)
{
    const char *end = bytes + length;

    dft_line_char(line, '"');
    while (bytes < end) {
        char *at = dft_line_room(line, WORD), *last = line->bytes + DFT_LINE_BYTES - WORD;

        for (uint64_t word; end - bytes >= (ptrdiff_t)WORD && at <= last; at += WORD, bytes += WORD) {
            word = load(bytes);
            if (is_special(word) | has(word, '"') | has(word, '\\'))
                break;
            memcpy(at, &word, WORD);
        }
        while (bytes < end && is_plain((unsigned char)*bytes) && at <= last)
            *at++ = *bytes++;
        line->at = at;
        if (bytes < end && !is_plain((unsigned char)*bytes))
            bytes += quote_special(line, bytes, (size_t)(end - bytes));
    }
    dft_line_char(line, '"');
}

/* The same for what a terminal may not get as it is. */
static __attribute__((noinline)) size_t escape_special(struct dft_line *line, const char *bytes, size_t left)
{
    unsigned char c = (unsigned char)*bytes;
    size_t n = c >= 0x80 ? dft_utf8_length(bytes, left) : 0;

    if (n && !acted_on(bytes, n)) {
        dft_line_bytes(line, bytes, n);
        return n;
    }
    if (c == '\n' || c == '\t')
        dft_line_format(line, "\\%c", c == '\n' ? 'n' : 't');
    else
        dft_line_format(line, "\\x%02x", c);
    return 1;
}

void dft_line_escape(struct dft_line *line, const char *bytes, size_t length)
{
    const char *end = length ? bytes + length : bytes; /* a text of no bytes may be NULL */

    while (bytes < end) {
        char *at = dft_line_room(line, WORD), *last = line->bytes + DFT_LINE_BYTES - WORD;

        for (; end - bytes >= (ptrdiff_t)WORD && at <= last && !is_special(load(bytes)); at += WORD, bytes += WORD)
            memcpy(at, bytes, WORD);
        while (bytes < end && is_ascii((unsigned char)*bytes) && at <= last)
            *at++ = *bytes++;
        line->at = at;
        if (bytes < end && !is_ascii((unsigned char)*bytes))
            bytes += escape_special(line, bytes, (size_t)(end - bytes));
    }
}

#define QUOTED  1u /* this field of CSV needs quotes */
#define SPECIAL 2u /* it may have bytes that need an escape */

static unsigned traits_of_field(const char *bytes, size_t length)
{
    unsigned traits = 0;
    size_t i = 0;

    for (; i + WORD <= length; i += WORD) {
        uint64_t word = load(bytes + i);

        traits |= has(word, '"') | has(word, ',') | has(word, '\n') ? QUOTED : 0;
        traits |= is_special(word) | has(word, '\\') ? SPECIAL : 0;
    }
    for (; i < length; i++) {
        traits |= bytes[i] == '"' || bytes[i] == ',' || bytes[i] == '\n' ? QUOTED : 0;
        traits |= is_ascii((unsigned char)bytes[i]) && bytes[i] != '\\' ? 0 : SPECIAL;
    }
    return traits;
}

static int is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* A backslash that a reader would take for the beginning of an escape is escaped itself. */
static int is_like_escape(const char *bytes, size_t left)
{
    return left >= 4 && bytes[0] == '\\' && bytes[1] == 'x' && is_hex(bytes[2]) && is_hex(bytes[3]);
}

static size_t put_of_field(struct dft_line *line, const char *bytes, size_t left)
{
    if (is_like_escape(bytes, left)) {
        dft_line_word(line, "\\x5c");
        return 1;
    }
    if (!is_ascii((unsigned char)*bytes) && *bytes != '\n' && *bytes != '\t')
        return escape_special(line, bytes, left);
    if (*bytes == '"')
        dft_line_char(line, '"');
    dft_line_char(line, *bytes);
    return 1;
}

void dft_line_csv(struct dft_line *line, const char *bytes, size_t length)
{
    unsigned traits = traits_of_field(bytes, length);

    if (!traits) {
        dft_line_bytes(line, bytes, length);
        return;
    }
    if (traits & QUOTED)
        dft_line_char(line, '"');
    for (size_t i = 0; i < length;)
        i += put_of_field(line, bytes + i, length - i);
    if (traits & QUOTED)
        dft_line_char(line, '"');
}
