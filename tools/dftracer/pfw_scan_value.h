/* SPDX-License-Identifier: MIT */
/* Values of a line for the scanner: ends of strings are looked for 16 bytes at a time, digits taken
 * eight at a time. Up to DFT_PFW_PADDING bytes behind the line are read, and mean nothing. */
#ifndef DFT_PFW_SCAN_VALUE_H
#define DFT_PFW_SCAN_VALUE_H

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "format/leb128.h"
#include "dftracer/pfw_record.h"

#define INLINE    static inline __attribute__((always_inline))
#define DEPTH_MAX 256 /* of nested values */

static inline uint64_t load(const char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

INLINE const char *skip_space(const char *at)
{
    while (dft_unlikely((uint8_t)*at <= ' ') && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

/* --- strings ---------------------------------------------------------------------------------- */

/* The next quote or backslash at or behind `at`; something at or behind `end` when there is
 * none. */
INLINE const char *next_mark(const char *at, const char *end)
{
#ifdef __SSE2__
    const __m128i quotes = _mm_set1_epi8('"'), backslashes = _mm_set1_epi8('\\');

    for (;; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        int mask = _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(bytes, quotes), _mm_cmpeq_epi8(bytes, backslashes)));

        if (dft_likely(mask))
            return at + __builtin_ctz((unsigned)mask);
        if (at >= end)
            return end;
    }
#else
    while (at < end && *at != '"' && *at != '\\')
        at++;
    return at;
#endif
}

/* From behind the opening quote to the closing one, or NULL. */
INLINE const char *string_end(const char *at, const char *end, uint8_t *escaped)
{
    *escaped = 0;
    for (;;) {
        at = next_mark(at, end);
        if (dft_unlikely(at >= end))
            return NULL;
        if (dft_likely(*at == '"'))
            return at;
        *escaped = 1;
        at += 2;
    }
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* How many of the bytes of a word, from its lowest on, are digits. */
INLINE unsigned leading_digits(uint64_t word)
{
    uint64_t value =
        word ^ UINT64_C(0x3030303030303030); /* of a digit 0 to 9; carries only go up, past the first other */
    uint64_t others = ((value + UINT64_C(0x7676767676767676)) | value) & UINT64_C(0x8080808080808080);

    return others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
}

/* Eight digits as a number. */
INLINE uint64_t eight_digits(uint64_t word)
{
    word = (word & UINT64_C(0x0f0f0f0f0f0f0f0f)) * 2561 >> 8;
    word = (word & UINT64_C(0x00ff00ff00ff00ff)) * 6553601 >> 16;
    return (word & UINT64_C(0x0000ffff0000ffff)) * UINT64_C(42949672960001) >> 32;
}

static __attribute__((noinline)) uint64_t saturated(const char *at, const char *end)
{
    uint64_t number = 0;

    for (; at < end; at++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*at - '0'), &number))
            return UINT64_MAX;
    return number;
}

/* At least one digit. That eight more follow is a branch, so that the processor guesses it and need
 * not wait. */
INLINE const char *digits(const char *at, uint64_t *number)
{
    static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    const char *start = at;
    uint64_t value = 0, word = load(at);
    unsigned n;

    while ((n = leading_digits(word)) == 8) {
        value = value * 100000000 + eight_digits(word);
        at += 8;
        word = load(at);
    }
    if (n)
        value = value * powers[n] + eight_digits(word << 8 * (8 - n));
    at += n;
    *number = dft_likely(at - start < 20) ? value : saturated(start, at);
    return at;
}

/* The rest of a number that is no integer. */
static __attribute__((noinline)) const char *real_end(const char *at, const char *end)
{
    while (at < end &&
           ((*at >= '0' && *at <= '9') || *at == '.' || *at == 'e' || *at == 'E' || *at == '+' || *at == '-'))
        at++;
    return at;
}

/* --- values ----------------------------------------------------------------------------------- */

/* Behind a nested value, or NULL. What is in it is not looked at closer: it is kept as text. */
static const char *nested_end(const char *at, const char *end)
{
    char stack[DEPTH_MAX];
    unsigned depth = 0;

    for (; at < end; at++) {
        uint8_t escaped;

        if (*at == '"') {
            at = string_end(at + 1, end, &escaped);
            if (!at)
                return NULL;
        } else if (*at == '{' || *at == '[') {
            if (depth == DEPTH_MAX)
                return NULL;
            stack[depth++] = *at == '{' ? '}' : ']';
        } else if (*at == '}' || *at == ']') {
            if (!depth || stack[--depth] != *at)
                return NULL;
            if (!depth)
                return at + 1;
        }
    }
    return NULL;
}

static const char *word_end(const char *at, const char *end, struct dft_pfw_value *value)
{
    static const char *const words[] = {"true", "false", "null", "nan", "inf", "NaN", "Infinity"};
    const char *start = at;

    if (*at == '-')
        at++;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);

        if (end - at < (ptrdiff_t)n || memcmp(at, words[i], n) != 0)
            continue;
        value->kind = i < 3 ? DFT_PFW_WORD : DFT_PFW_REAL;
        value->text = (struct dft_text){start, (uint32_t)(at + n - start)};
        return at + n;
    }
    return NULL;
}

static __attribute__((noinline)) const char *scan_rare(const char *at, const char *end, struct dft_pfw_value *value)
{
    if (*at != '{' && *at != '[')
        return word_end(at, end, value);
    value->kind = DFT_PFW_NESTED;
    value->text.bytes = at;
    at = nested_end(at, end);
    value->text.length = at ? (uint32_t)(at - value->text.bytes) : 0;
    return at;
}

INLINE const char *scan_number(const char *at, const char *end, struct dft_pfw_value *value)
{
    const char *start = at;

    value->negative = *at == '-';
    at += value->negative;
    if (dft_unlikely(*at < '0' || *at > '9'))
        return scan_rare(start, end, value);
    at = digits(at, &value->number);
    value->kind = DFT_PFW_INTEGER;
    if (dft_unlikely(*at == '.' || *at == 'e' || *at == 'E')) {
        value->kind = DFT_PFW_REAL;
        at = real_end(at, end);
    }
    value->text = (struct dft_text){start, (uint32_t)(at - start)};
    return at <= end ? at : NULL;
}

INLINE const char *scan_value(const char *at, const char *end, struct dft_pfw_value *value)
{
    if (*at == '"') {
        const char *start = at + 1;

        at = string_end(start, end, &value->escaped);
        if (dft_unlikely(!at))
            return NULL;
        value->kind = DFT_PFW_STRING;
        value->text = (struct dft_text){start, (uint32_t)(at - start)};
        return at + 1;
    }
    return scan_number(at, end, value);
}

#endif
