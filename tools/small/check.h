/* SPDX-License-Identifier: MIT */
/* dftmerge check: what its files share. */
#ifndef DFT_CHECK_H
#define DFT_CHECK_H

#include "source/source_object.h"

/* Notes which processes lack blocks that each one writes: CLOCK, and BUCKETS beside its events.
 * counts: a byte a block, whether events in it are counted in rows. Returns 0 or -ENOMEM.
 * Collective. */
int dft_check_whole(struct dft_source *source, const uint8_t *counts);

#endif
