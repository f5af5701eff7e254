/* SPDX-License-Identifier: MIT */
/* What paths have in common: the directory that is taken out of them. */
#include <string.h>

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
