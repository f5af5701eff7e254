/* SPDX-License-Identifier: MIT */
/* An EVENTS block that is being made from a batch, for the files that do it. */
#ifndef DFT_EVENTS_ENCODER_H
#define DFT_EVENTS_ENCODER_H

#include "encoder.h"
#include "shape.h"

#define DFT_EVENTS_ENCODER_COLUMNS (DFT_EV_NUMBER + 1)
#define DFT_EVENTS_ENCODER_UNSEEN  UINT32_MAX

struct dft_events_encoder {
    struct dft_encoder *encoder;
    const struct dft_batch *batch;
    struct dft_entries entries;
    uint8_t *start[DFT_EVENTS_ENCODER_COLUMNS], *at[DFT_EVENTS_ENCODER_COLUMNS];
    struct dft_call_state *calls;
    uint32_t *call_of;    /* position in the batch -> in calls; DFT_EVENTS_ENCODER_UNSEEN */
    uint32_t *call_order; /* and back */
    uint32_t ncalls;
    uint64_t *shapes; /* position in CALLS << 32 | flags */
    uint32_t nshapes;
    uint64_t *gaps, *durations;
    uint64_t start_ns, end_ns;
    uint64_t previous_end; /* of the event before */
    /* Prediction state. */
    struct dft_entry *recent[DFT_RECENT];
    struct dft_entry no_file;
    struct dft_block_state block;
};

/* Puts every event of the batch into columns, shapes, gaps and durations. Returns 0, -EINVAL or
 * -E2BIG. */
int dft_put_events(struct dft_events_encoder *p);

#endif
