/* SPDX-License-Identifier: MIT */
/* A batch that is being filled from a ring, for the files that take records out of it. */
#ifndef DFT_FILLING_H
#define DFT_FILLING_H

#include "format/take.h"

struct dft_filling {
    struct dft_take *take;
    struct dft_batch *batch;
    uint32_t text_used;
    uint64_t previous_end; /* for DFT_TIME_REL */
};

/* Position of the record's call in the batch, added when it is new. */
uint32_t dft_filling_call(struct dft_filling *filling, const struct dft_slot *slot);

/* Marks the slots of numbers in a row as taken. */
void dft_filling_mark(const struct dft_take *take, const struct dft_ring *ring, uint64_t sequence, uint64_t end);

/* The common records: of one slot and this lap, times as they are. Takes a run of them from `sequence` on; returns where it ends. */
uint64_t dft_filling_run(struct dft_filling *filling, const struct dft_ring *ring, uint64_t sequence, uint64_t end);

#endif
