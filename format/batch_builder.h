/* SPDX-License-Identifier: MIT */
/* A batch that is being filled from a ring, for the files that take records out of it. */
#ifndef DFT_BATCH_BUILDER_H
#define DFT_BATCH_BUILDER_H

#include "format/ring_decode.h"

struct dft_batch_builder {
    struct dft_ring_decoder *decoder;
    struct dft_batch *batch;
    uint32_t text_used;
    uint64_t previous_end; /* for DFT_TIME_REL */
};

/* Position of the record's call in the batch, added when it is new. */
uint32_t dft_batch_builder_call(struct dft_batch_builder *builder, const struct dft_slot *slot);

/* Marks the slots of numbers in a row as taken. */
void dft_batch_builder_mark(const struct dft_ring_decoder *decoder, const struct dft_ring *ring, uint64_t sequence,
                            uint64_t end);

/* The common records: of one slot and this lap, times as they are. Takes a run of them from
 * `sequence` on; returns where it ends. */
uint64_t dft_batch_builder_run(struct dft_batch_builder *builder, const struct dft_ring *ring, uint64_t sequence,
                               uint64_t end);

#endif
