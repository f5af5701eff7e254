/* SPDX-License-Identifier: MIT */
/* Finds the nearest word by edit distance. */
#include "base/nearest_word.h"

#include <ctype.h>
#include <string.h>

#define LETTERS 32u /* longer words are like no other */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Two neighbours that have changed places count as one letter. */
static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t rows[LETTERS + 1][LETTERS + 1];

    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            if (!i || !j) {
                rows[i][j] = i + j;
                continue;
            }
            rows[i][j] =
                least(least(rows[i - 1][j], rows[i][j - 1]) + 1, rows[i - 1][j - 1] + !same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                rows[i][j] = least(rows[i][j], rows[i - 2][j - 2] + 1);
        }
    return rows[n][m];
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
