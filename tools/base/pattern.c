/* SPDX-License-Identifier: MIT */
/* Patterns of paths: numbers, UUIDs and hashes become #. */
#include "base/pattern.h"

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Length of the UUID that begins here, or 0. */
static uint32_t uuid_at(const char *text, uint32_t length)
{
    uint32_t n;

    if (length < 36 || (length > 36 && is_hex(text[36])))
        return 0;
    for (n = 0; n < 36; n++)
        if (n == 8 || n == 13 || n == 18 || n == 23 ? text[n] != '-' : !is_hex(text[n]))
            return 0;
    return n;
}

/* Length of the number that begins here: a long hexadecimal number, else a decimal number; or 0.
 * Called where a run of hexadecimal digits begins, or within a run that is no number. */
static uint32_t number_at(const char *text, uint32_t length, int begins)
{
    uint32_t n = 0, digits = 0;

    if (begins) {
        for (; n < length && is_hex(text[n]); n++)
            digits += (uint32_t)is_digit(text[n]);
        if (n >= 8 && digits)
            return n;
    }
    for (n = 0; n < length && is_digit(text[n]); n++)
        ;
    return n;
}

uint32_t dft_pattern_number(const char *path, uint32_t length, uint32_t at)
{
    int begins = !at || !is_hex(path[at - 1]);
    uint32_t number = begins ? uuid_at(path + at, length - at) : 0;

    return number ? number : number_at(path + at, length - at, begins);
}

uint32_t dft_pattern_of(const char *path, uint32_t length, char *pattern)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < length;) {
        uint32_t number = dft_pattern_number(path, length, i);

        pattern[n++] = number ? '#' : path[i];
        i += number ? number : 1;
    }
    return n;
}
