/* SPDX-License-Identifier: MIT */
/* What paths have in common: the directory that is taken out of them, and the pattern of many like
 * ones. */
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"
#include "summary/page_paths.h"

#define FEW   3u /* it is above one path in so many, at least */
#define LEAST 4u /* a directory of fewer bytes is not taken out */

static uint32_t below(const char *const *paths, uint32_t count, const char *path, size_t length)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < count; i++)
        n += !strncmp(paths[i], path, length) && paths[i][length] == '/' && paths[i][length + 1];
    return n;
}

size_t dft_page_base(const char *const *paths, uint32_t count, const char *home, uint32_t *of)
{
    size_t length_home = strlen(home), best = 0, saved = 0;

    for (uint32_t i = 0; !best && length_home && i < count; i++)
        if (below(&paths[i], 1, home, length_home)) {
            saved = length_home * below(paths, count, home, length_home);
            best = length_home;
            *of = i;
        }
    for (uint32_t i = 0; i < count; i++)
        for (const char *slash = *paths[i] == '/' ? strchr(paths[i] + 1, '/') : NULL; slash;
             slash = strchr(slash + 1, '/')) {
            size_t length = (size_t)(slash - paths[i]);
            uint32_t n = length >= LEAST ? below(paths, count, paths[i], length) : 0;

            if (n > 1 && n * FEW >= count && n * length > saved) {
                saved = n * length;
                best = length;
                *of = i;
            }
        }
    return best;
}

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
