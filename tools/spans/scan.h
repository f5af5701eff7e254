/* SPDX-License-Identifier: MIT */
/* Takes a line apart, from its beginning to its end. */
#ifndef DFT_SPANS_SCAN_H
#define DFT_SPANS_SCAN_H

#include <ctype.h>
#include <string.h>

#include "format/text.h"

static inline void dft_scan_skip(struct dft_text *at, size_t length)
{
    at->bytes += length;
    at->length -= (uint32_t)length;
}

/* NULL: the words stand nowhere. A text of no bytes may be NULL, which memmem does not take. */
static inline const char *dft_scan_place(struct dft_text at, const char *words)
{
    return at.length ? memmem(at.bytes, at.length, words, strlen(words)) : NULL;
}

static inline int dft_scan_has(struct dft_text at, const char *words)
{
    return dft_scan_place(at, words) != NULL;
}

/* Goes behind the first place where the words stand. Returns 0 where they stand nowhere. */
static inline int dft_scan_find(struct dft_text *at, const char *words)
{
    const char *found = dft_scan_place(*at, words);

    if (!found)
        return 0;
    dft_scan_skip(at, (size_t)(found - at->bytes) + strlen(words));
    return 1;
}

/* Goes behind the words, if they stand here. */
static inline int dft_scan_take(struct dft_text *at, const char *words)
{
    size_t length = strlen(words);

    if (at->length < length || memcmp(at->bytes, words, length) != 0)
        return 0;
    dft_scan_skip(at, length);
    return 1;
}

/* Takes digits. Length 0: there are none. */
static inline struct dft_text dft_scan_digits(struct dft_text *at)
{
    struct dft_text digits = {at->bytes, 0};

    while (digits.length < at->length && isdigit((unsigned char)at->bytes[digits.length]))
        digits.length++;
    dft_scan_skip(at, digits.length);
    return digits;
}

/* Takes all up to the next blank, and the blanks behind it. Length 0: there is nothing more. */
static inline struct dft_text dft_scan_word(struct dft_text *at)
{
    struct dft_text word = {at->bytes, 0};

    while (word.length < at->length && !isspace((unsigned char)at->bytes[word.length]))
        word.length++;
    dft_scan_skip(at, word.length);
    while (at->length && isspace((unsigned char)*at->bytes))
        dft_scan_skip(at, 1);
    return word;
}

#endif
