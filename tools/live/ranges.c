/* SPDX-License-Identifier: MIT */
/* Collects what blocks cover, and joins ranges that overlap. */
#include "live/ranges.h"

#include <errno.h>
#include <stdlib.h>

#include "object/source_inside.h"

static int by_range(const void *left, const void *right)
{
    const struct dft_live_range *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->stream != b->stream)
        return a->stream < b->stream ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

int dft_live_ranges_collect(const struct dft_source *source, const struct dft_scanned *scanned,
                            struct dft_live_ranges *ranges)
{
    size_t all = 0, n = 0;

    for (uint32_t f = 0; f < source->nfiles; f++)
        all += scanned[f].count;
    ranges->list = malloc((all + 1) * sizeof *ranges->list);
    if (!ranges->list)
        return -ENOMEM;
    all = 0;
    for (uint32_t f = 0; f < source->nfiles; f++)
        for (size_t i = 0; i < scanned[f].count; i++) {
            const struct dft_block *block = &scanned[f].blocks[i];

            if ((block->type == DFT_BLOCK_EVENTS || block->type == DFT_BLOCK_BUCKETS) && block->first <= block->last)
                ranges->list[all++] =
                    (struct dft_live_range){scanned[f].keys[i], block->first, block->last, block->stream};
        }
    qsort(ranges->list, all, sizeof *ranges->list, by_range);
    for (size_t i = 0; i < all; i++) {
        struct dft_live_range *last = n ? &ranges->list[n - 1] : NULL, *range = &ranges->list[i];

        if (!last || last->key != range->key || last->stream != range->stream || last->last < range->first)
            ranges->list[n++] = *range;
        else if (range->last > last->last)
            last->last = range->last;
    }
    ranges->count = n;
    return 0;
}

int dft_live_covered(void *context, uint64_t key, uint32_t stream, uint64_t sequence)
{
    const struct dft_live_ranges *ranges = context;
    size_t low = 0, high = ranges->count;

    while (low < high) { /* the first range behind the number */
        size_t middle = low + (high - low) / 2;
        const struct dft_live_range *range = &ranges->list[middle];
        int behind = range->key != key         ? range->key > key
                     : range->stream != stream ? range->stream > stream
                                               : range->first > sequence;

        if (behind)
            high = middle;
        else
            low = middle + 1;
    }
    if (!low)
        return 0;
    low--;
    return ranges->list[low].key == key && ranges->list[low].stream == stream && ranges->list[low].last >= sequence;
}
