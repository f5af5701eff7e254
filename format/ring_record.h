/* SPDX-License-Identifier: MIT */
/* One record of a ring, for the files that take records out of it. */
#ifndef DFT_RING_RECORD_H
#define DFT_RING_RECORD_H

#include "format/ring_decode.h"

/* A batch that is being filled. */
struct dft_batch_builder {
    struct dft_ring_decoder *decoder;
    struct dft_batch *batch;
    uint32_t text_used;
    uint64_t previous_end; /* for DFT_TIME_REL */
};

/* Do events of the batch go to the sink? */
static inline int dft_goes_to_sink(const struct dft_batch_builder *builder)
{
    return builder->decoder->sink && builder->batch->key == builder->decoder->key;
}

/* The process whose record it is. */
struct dft_record_owner {
    uint64_t key;
    uint32_t pid;
} __attribute__((packed));

/* One whole record at a sequence number: its slots are marked as taken. Returns 0, or -1: it makes
 * no sense. */
int dft_take_record(struct dft_batch_builder *builder, const struct dft_ring *ring, uint64_t sequence,
                    const struct dft_slot *slot);

/* An event of one slot, which is not marked. Returns 0, or -1: it makes no sense. */
int dft_take_short_event(struct dft_batch_builder *builder, const struct dft_slot *slot);

/* Marks the slots of numbers in a row as taken. */
void dft_ring_decoder_mark(const struct dft_ring_decoder *decoder, const struct dft_ring *ring, uint64_t sequence,
                           uint64_t end);

#endif
