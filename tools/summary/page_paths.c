/* SPDX-License-Identifier: MIT */
/* What paths have in common: the directory that is taken out of them. */
#include <string.h>

#include "base/map.h"
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

static int ends_directory(const char *path, size_t length)
{
    return length >= LEAST && path[length] == '/' && path[length + 1];
}

size_t dft_page_base(const char *const *paths, uint32_t count, const char *home, uint32_t *of)
{
    size_t length_home = strlen(home), best = 0, saved = 0;
    struct dft_map directories = {0}; /* paths below each, by a hash of its name */

    for (uint32_t i = 0; !best && length_home && i < count; i++)
        if (below(&paths[i], 1, home, length_home)) {
            saved = length_home * below(paths, count, home, length_home);
            best = length_home;
            *of = i;
        }
    for (int is_counted = 0; is_counted <= 1; is_counted++)
        for (uint32_t i = 0; i < count; i++) {
            uint64_t hash = 0;

            for (size_t length = 0; *paths[i] == '/' && paths[i][length]; length++) {
                uint64_t *n = ends_directory(paths[i], length) ? dft_map_put(&directories, hash) : NULL;

                if (n && !is_counted)
                    ++*n;
                if (n && is_counted && *n > 1 && *n * FEW >= count && *n * length > saved) {
                    saved = *n * length;
                    best = length;
                    *of = i;
                }
                hash = dft_map_join(hash, (unsigned char)paths[i][length]);
            }
        }
    dft_map_fini(&directories);
    return best;
}
