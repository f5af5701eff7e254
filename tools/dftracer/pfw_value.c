/* SPDX-License-Identifier: MIT */
/* Values of records, as numbers and as texts. */
#include <stdlib.h>
#include <string.h>

#include "dftracer/pfw_record.h"

#define DIGITS_MAX      400 /* of a number that is no integer */
#define FRACTION_DIGITS 18  /* that are looked at: a nanosecond of a second takes nine */
#define EXPONENT_MAX    10000

/* A copy that strtod may read. */
static int real_of(struct dft_text text, double *number)
{
    char copy[DIGITS_MAX + 1], *end;

    if (!text.length || text.length > DIGITS_MAX)
        return -1;
    memcpy(copy, text.bytes, text.length);
    copy[text.length] = 0;
    if (strspn(copy, "0123456789+-.eEnainfNIty") != text.length)
        return -1;
    *number = strtod(copy, &end);
    return *end ? -1 : 0;
}

static int integer_of(struct dft_text text, uint64_t *number, int *negative)
{
    uint32_t i = 0;

    *negative = text.length && text.bytes[0] == '-';
    *number = 0;
    if (text.length == (uint32_t)*negative)
        return -1;
    for (i = (uint32_t)*negative; i < text.length; i++) {
        if (text.bytes[i] < '0' || text.bytes[i] > '9')
            return -1;
        if (*number == UINT64_MAX || __builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, (uint64_t)(text.bytes[i] - '0'), number))
            *number = UINT64_MAX;
    }
    return 0;
}

/* A number that is no integer, as it stands there: a double would not have all of its digits. */
struct decimal {
    char digits[DIGITS_MAX];
    int count, point; /* so many digits stand before the point; the exponent is in it */
};

static int decimal_of(struct dft_text text, struct decimal *decimal, int *negative)
{
    const char *at = text.bytes, *end = at + text.length;
    int has_point = 0, exponent = 0, sign = 1;

    decimal->count = decimal->point = 0;
    *negative = at < end && *at == '-';
    for (at += at < end && (*at == '-' || *at == '+'); at < end && ((*at >= '0' && *at <= '9') || *at == '.'); at++) {
        if (*at == '.' && has_point++)
            return -1;
        if (*at == '.')
            continue;
        if (decimal->count == DIGITS_MAX)
            return -1;
        decimal->digits[decimal->count++] = (char)(*at - '0');
        decimal->point += !has_point;
    }
    if (!decimal->count || (at < end && *at != 'e' && *at != 'E'))
        return -1;
    if (at < end) {
        if (++at < end && (*at == '-' || *at == '+'))
            sign = *at++ == '-' ? -1 : 1;
        if (at == end)
            return -1;
        for (; at < end && *at >= '0' && *at <= '9'; at++)
            exponent = exponent < EXPONENT_MAX ? exponent * 10 + (*at - '0') : exponent;
    }
    decimal->point += sign * exponent;
    return at == end ? 0 : -1;
}

static unsigned digit_at(const struct decimal *decimal, int i)
{
    return i >= 0 && i < decimal->count ? (unsigned)decimal->digits[i] : 0;
}

/* The nearest whole number of parts, of which `unit` are one; UINT64_MAX when it is larger. */
static uint64_t parts_of(const struct decimal *decimal, uint64_t unit)
{
    unsigned __int128 whole = 0, fraction = 0, ten = 1;

    for (int i = 0; i < decimal->point && whole <= UINT64_MAX; i++)
        whole = whole * 10 + digit_at(decimal, i);
    for (int i = decimal->point; i < decimal->point + FRACTION_DIGITS; i++) {
        fraction = fraction * 10 + digit_at(decimal, i);
        ten *= 10;
    }
    if (whole > UINT64_MAX)
        return UINT64_MAX;
    whole = whole * unit + (fraction * unit + ten / 2) / ten;
    return whole > UINT64_MAX ? UINT64_MAX : (uint64_t)whole;
}

int dft_pfw_scaled(const struct dft_pfw_value *value, uint64_t unit, uint64_t *number, int *negative)
{
    struct decimal decimal;

    if (value->kind == DFT_PFW_INTEGER) {
        *number = value->number;
        *negative = value->negative;
    } else if (value->kind != DFT_PFW_STRING || integer_of(value->text, number, negative)) {
        if ((value->kind != DFT_PFW_REAL && value->kind != DFT_PFW_STRING) ||
            decimal_of(value->text, &decimal, negative))
            return -1;
        *number = parts_of(&decimal, unit);
        *negative &= *number != 0;
        return 0;
    }
    if (__builtin_mul_overflow(*number, unit, number))
        *number = UINT64_MAX;
    return 0;
}

int dft_pfw_unsigned(const struct dft_pfw_value *value, uint64_t *number, int *negative)
{
    return dft_pfw_scaled(value, 1, number, negative);
}

int dft_pfw_signed(const struct dft_pfw_value *value, int64_t *number)
{
    uint64_t magnitude;
    int negative;

    if (dft_pfw_unsigned(value, &magnitude, &negative))
        return -1;
    if (magnitude > INT64_MAX) /* -1 of a writer that prints it unsigned, and the like */
        *number = negative ? INT64_MIN : (int64_t)magnitude;
    else
        *number = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return 0;
}

int dft_pfw_double(const struct dft_pfw_value *value, double *number)
{
    return real_of(value->text, number);
}

/* --- escapes ---------------------------------------------------------------------------------- */

static int hex4(const char *at, const char *end, uint32_t *code)
{
    *code = 0;
    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        uint32_t digit;

        if (c >= '0' && c <= '9')
            digit = (uint32_t)(c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            digit = (uint32_t)((c | 32) - 'a' + 10);
        else
            return -1;
        *code = *code << 4 | digit;
    }
    return 0;
}

static char *put_utf8(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 63));
    } else if (code < 0x10000) {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    } else {
        *to++ = (char)(0xf0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 63));
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    }
    return to;
}

/* \uXXXX, from behind the u. A lone \udc80 to \udcff is a byte that is no UTF-8, as our own output
 * has it. */
static const char *put_unicode(const char *at, const char *end, char **to)
{
    uint32_t code, low;

    if (hex4(at, end, &code)) {
        memcpy(*to, "\\u", 2); /* not an escape: it stays as it stands */
        *to += 2;
        return at;
    }
    at += 4;
    if (code >= 0xd800 && code < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u' && !hex4(at + 2, end, &low) &&
        low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        at += 6;
    }
    if (code >= 0xdc80 && code <= 0xdcff)
        *(*to)++ = (char)(code - 0xdc00);
    else
        *to = put_utf8(*to, code);
    return at;
}

struct dft_text dft_pfw_unescape(const struct dft_pfw_value *value, char *text)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *at = value->text.bytes, *end = at + value->text.length, *letter;
    char *to = text;

    if (value->kind != DFT_PFW_STRING || !value->escaped)
        return value->text;
    while (at < end) {
        if (*at != '\\' || at + 1 == end) {
            *to++ = *at++;
            continue;
        }
        at++;
        if (*at == 'u') {
            at = put_unicode(at + 1, end, &to);
        } else if (*at && (letter = strchr(letters, *at))) {
            *to++ = meanings[letter - letters];
            at++;
        } else {
            *to++ = '\\'; /* an old writer's, who escaped nothing */
            *to++ = *at++;
        }
    }
    return (struct dft_text){text, (uint32_t)(to - text)};
}
