/* SPDX-License-Identifier: MIT */
/* Owns which lines of files one run does not know: aggregates tell so many files apart, and count the others by their
 * directory. */

#include "compare/compare_folded.h"
#include "base/names.h"
#include "compare/comparison.h"
#include "format/hash.h"
#include "views/file_groups.h"

static uint32_t runs_with(const struct dft_comparison *comparison, const struct dft_compared_items *files, uint32_t i)
{
    uint32_t n = 0;

    for (uint32_t run = 0; run < comparison->nruns; run++)
        n += files->measured[(size_t)i * comparison->nruns + run].value[DFT_MEASURE_COUNT] != 0;
    return n;
}

/* The directories that stand for files in some runs, and not in all. */
static int collect(const struct dft_comparison *comparison, const struct dft_compared_items *files,
                   struct dft_group_map *folded)
{
    char buffer[18];
    uint32_t number;
    int rc = 0;

    for (uint32_t i = 0; i < files->count && !rc; i++) {
        struct dft_text text = dft_compare_text(comparison, files->items[i].key.file, buffer);
        const struct dft_group_key key = {.file = dft_name_id(text.bytes, text.length)};

        if (dft_file_is_folded(text) && runs_with(comparison, files, i) < comparison->nruns)
            rc = dft_group_map_get(folded, &key, &number);
    }
    return rc;
}

/* Is a path one of these directories, or below one? */
static int is_within(const struct dft_group_map *folded, struct dft_text path)
{
    for (uint32_t length = 2; length <= path.length; length++) {
        const struct dft_group_key key = {.file = dft_name_id(path.bytes, length)};

        if (path.bytes[length - 1] == '/' && dft_group_map_find(folded, &key) >= 0)
            return 1;
    }
    return 0;
}

static void forget(struct dft_item *item)
{
    for (int m = 0; m < DFT_MEASURES; m++) {
        struct dft_change *change = &item->changes[m];

        if (change->spread == DFT_SPREAD_SAME)
            continue;
        change->spread = DFT_SPREAD_UNKNOWN;
        change->unsaid = 1;
        for (int side = 0; side < 2; side++)
            change->known[side] &= change->high[side] != 0;
    }
}

/* A file that not all runs have may be in such a directory of another name, too. */
int dft_compare_folded(const struct dft_comparison *comparison, struct dft_compared_items *files)
{
    struct dft_group_map folded = {0};
    char text[18];
    int rc = collect(comparison, files, &folded);

    for (uint32_t i = 0; i < files->count && !rc && folded.count; i++) {
        struct dft_item *item = &files->items[i];

        if (runs_with(comparison, files, i) < comparison->nruns ||
            is_within(&folded, dft_compare_text(comparison, item->key.file, text)))
            forget(item);
    }
    dft_group_map_fini(&folded);
    return rc;
}
