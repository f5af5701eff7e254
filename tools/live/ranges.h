/* SPDX-License-Identifier: MIT */
/* Which numbers of which streams the blocks of the traces cover. */
#ifndef DFT_LIVE_RANGES_H
#define DFT_LIVE_RANGES_H

#include "intake/source_scan.h"

struct dft_live_range {
    uint64_t key, first, last;
    uint32_t stream;
};

struct dft_live_ranges {
    struct dft_live_range *list; /* from malloc */
    size_t count;
};

/* Takes all EVENTS and BUCKETS blocks. Returns 0 or -ENOMEM. */
int dft_live_ranges_collect(const struct dft_source *source, const struct dft_scanned *scanned,
                            struct dft_live_ranges *ranges);
/* Is the number in a block? `context`: struct dft_live_ranges. */
int dft_live_covered(void *context, uint64_t key, uint32_t stream, uint64_t sequence);

#endif
