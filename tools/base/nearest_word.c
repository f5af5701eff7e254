/* SPDX-License-Identifier: MIT */
/* Finds the nearest word by edit distance. */
#include "base/nearest_word.h"

#include <string.h>

#define LETTERS 32u /* longer words are like no other */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t row[LETTERS + 1];

    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t corner = row[0];

        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t above = row[j];

            row[j] = least(least(above, row[j - 1]) + 1, corner + (a[i - 1] != b[j - 1]));
            corner = above;
        }
    }
    return row[m];
}

const char *dft_nearest_word(const char *word, size_t length, const char *const *words, size_t count)
{
    const char *best = NULL;
    size_t fewest = 4;

    for (size_t i = 0; i < count && length <= LETTERS; i++) {
        size_t n = words[i] ? strlen(words[i]) : LETTERS + 1, apart;

        if (n > LETTERS)
            continue;
        apart = distance(word, length, words[i], n);
        if (apart < fewest && 3 * apart <= (n > length ? n : length)) {
            fewest = apart;
            best = words[i];
        }
    }
    return best;
}
