/* SPDX-License-Identifier: MIT */
/* Owns the search for the word that was meant. */
#include "settings/nearest.h"

#include <string.h>

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static int same(char a, char b)
{
    return (a | 32) == (b | 32);
}

/* The number of changes that turn one name into the other. A change inserts, deletes or alters a
 * letter, or swaps two neighbours. */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb)
{
    unsigned char rows[3][DFT_NEAREST_MAX + 1];

    for (size_t j = 0; j <= nb; j++)
        rows[0][j] = (unsigned char)j;
    for (size_t i = 1; i <= na; i++) {
        unsigned char *row = rows[i % 3];
        const unsigned char *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];

        row[0] = (unsigned char)i;
        for (size_t j = 1; j <= nb; j++) {
            unsigned best = least(least(above[j], row[j - 1]) + 1u, above[j - 1] + !same(a[i - 1], b[j - 1]));

            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                best = least(best, two_above[j - 2] + 1u);
            row[j] = (unsigned char)best;
        }
    }
    return rows[na % 3][nb];
}

void dft_nearest_look(const char *const *names, size_t n, const char *name, size_t length, const char **nearest,
                      unsigned *apart)
{
    length = length < DFT_NEAREST_MAX ? length : DFT_NEAREST_MAX;
    for (size_t i = 0; i < n; i++) {
        unsigned d = distance(name, length, names[i], strlen(names[i]));

        if (!*nearest || d < *apart) {
            *nearest = names[i];
            *apart = d;
        }
    }
}

const char *dft_nearest_of(const char *const *names, size_t count, const char *name, size_t length)
{
    const char *nearest = NULL;
    unsigned apart = 0;

    dft_nearest_look(names, count, name, length, &nearest, &apart);
    return nearest;
}
