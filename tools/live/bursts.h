/* SPDX-License-Identifier: MIT */
/* Bursts that were open when their process was copied, and stand in its trace by now: nothing in the
 * copy tells of that. */
#ifndef DFT_LIVE_BURSTS_H
#define DFT_LIVE_BURSTS_H

#include "format/live_format.h"
#include "intake/source_read.h"
#include "intake/source_scan.h"

struct dft_live_bursts {
    struct dft_source *source;
    const struct dft_scanned *scanned; /* one entry for each of the source's files */
    struct dft_reader *reader;         /* made when it is needed */
};

void dft_live_bursts_fini(struct dft_live_bursts *bursts);

/* Is the event of a burst, which was open in a copy of the ring, in a block of the process `key`? Blocks that
 * cannot be read have no such event. */
int dft_live_burst_is_recorded(struct dft_live_bursts *bursts, uint64_t key, const struct dft_ring *ring,
                               const struct dft_call *call, const struct dft_event *burst);

#endif
