/* SPDX-License-Identifier: MIT */
/* Owns the text that tells which settings a process ran with. */
#include <string.h>

#include "settings/config.h"
#include "os/line.h"
#include "settings/settings.h"

static size_t put_first(char *text, size_t capacity, size_t used, const char *more, size_t length)
{
    for (; length && used < capacity; length--)
        text[used++] = *more++;
    return used;
}

static size_t put(char *text, size_t capacity, size_t used, const char *more)
{
    return put_first(text, capacity, used, more, strlen(more));
}

static size_t put_number(char *text, size_t capacity, size_t used, uint64_t number, unsigned base)
{
    char digits[DFT_DIGITS_ROOM];

    return put(text, capacity, used, dft_digits(digits, number, base));
}

#define PUT_NUMBER(value)           (used = put_number(text, capacity, used, (uint64_t)(value), 10))
#define PUT_OCTAL(value)            (used = put_number(text, capacity, used, (uint64_t)(value), 8))
#define DIFFERS_TEXT(a, b)          (strcmp(a, b) != 0)
#define DIFFERS_NUMBER(a, b)        ((a) != (b))
#define DIFFERS_OCTAL(a, b)         ((a) != (b))
#define KIND_BOOL(then, ...)        then##_NUMBER(__VA_ARGS__)
#define KIND_UINT(then, ...)        then##_NUMBER(__VA_ARGS__)
#define KIND_MODE(then, ...)        then##_OCTAL(__VA_ARGS__)
#define KIND_TEXT(then, ...)        then##_TEXT(__VA_ARGS__)
#define KIND_INIT(then, ...)        then##_NUMBER(__VA_ARGS__)
#define KIND_LOG_LEVEL(then, ...)   then##_NUMBER(__VA_ARGS__)
#define KIND_AGGREGATION(then, ...) then##_NUMBER(__VA_ARGS__)
#define KIND_METRICS(then, ...)     then##_NUMBER(__VA_ARGS__)
#define KIND_TIME_METRIC(then, ...) then##_NUMBER(__VA_ARGS__)
#define PUT_TEXT(value)             (used = put(text, capacity, used, value))

size_t dft_config_describe(char *text, size_t capacity)
{
    size_t used = 0;

#define DFT_OPTION(field, name, type, initial, help)                                                                   \
    if (KIND_##type(DIFFERS, dft_config.field, initial)) {                                                             \
        used = put(text, capacity, used, "DFTRACER_" #name "=");                                                       \
        KIND_##type(PUT, dft_config.field);                                                                            \
        used = put(text, capacity, used, "\n");                                                                        \
    }
#include <dftrace/config.def>
#undef DFT_OPTION
    for (unsigned i = 0; *dft_settings_shown(i); i++) {
        const char *shown = dft_settings_shown(i);

        /* what has no effect may hold anything */
        used = put_first(text, capacity, used, shown,
                         dft_config.private_texts ? dft_settings_name_length(shown) : strlen(shown));
        used = put(text, capacity, used, DFT_SETTINGS_NO_EFFECT);
    }
    return used;
}
