/* SPDX-License-Identifier: MIT */
/* Compares paths of one pattern, number by number. */
#include "base/like_paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"

void dft_like_paths_add(struct dft_like_paths *like, const char *path, uint32_t length)
{
    unsigned number = 0;
    uint32_t i = 0, j = 0;

    if (!like->count++) {
        like->first = path;
        like->length = length;
        return;
    }
    while (i < like->length && j < length) {
        uint32_t a = dft_pattern_number(like->first, like->length, i), b = dft_pattern_number(path, length, j);

        if (a && b && number < 64 && (a != b || memcmp(like->first + i, path + j, a) != 0))
            like->varies |= UINT64_C(1) << number;
        number += a && b;
        i += a ? a : 1;
        j += b ? b : 1;
    }
}

char *dft_like_paths_text(const struct dft_like_paths *like)
{
    char *text = malloc(like->length + 1u), *at = text;
    unsigned number = 0;

    for (uint32_t i = 0; text && i < like->length;) {
        uint32_t n = dft_pattern_number(like->first, like->length, i);
        int varies = n && (number >= 64 || like->varies >> number & 1);

        number += n != 0;
        n = n ? n : 1;
        at = varies ? stpcpy(at, "#") : mempcpy(at, like->first + i, n);
        i += n;
    }
    if (text)
        *at = 0;
    return text;
}
