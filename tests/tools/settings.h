/* SPDX-License-Identifier: MIT */
/* What the programs that make traces share: settings ("name=number" arguments), and numbers that
 * are the same in every run. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct setting {
    const char *name;
    long *value;
};

/* Returns 0, or -1: none has this name. */
static inline int setting_set(const struct setting *list, size_t count, const char *argument)
{
    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(list[i].name);

        if (strncmp(argument, list[i].name, n) || argument[n] != '=')
            continue;
        *list[i].value = atol(argument + n + 1);
        return 0;
    }
    return -1;
}

/* xorshift64*: G. Marsaglia, S. Vigna. */
static uint64_t random_state; /* not 0; set by the program */

static inline uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (random_state * UINT64_C(0x2545f4914f6cdd1d) >> 16) % limit;
}

#endif
