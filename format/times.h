/* SPDX-License-Identifier: MIT */
/* The columns GAP and DURATION, and the bit string behind the columns. */
#ifndef DFT_TIMES_H
#define DFT_TIMES_H

#include "decoder.h"
#include "encoder.h"

/* Writes both columns of `count` values, and what is to be the block's bit string: *tail is in the
 * arena. shapes: the content of the column SHAPE, which tells `nshapes` shapes. Returns 0 or
 * -E2BIG. */
int dft_times_put(struct dft_encoder *encoder, const uint8_t *shapes, uint32_t nshapes, const uint64_t *gaps,
                  const uint64_t *durations, uint32_t count, const uint8_t **tail, size_t *tail_bytes);

/* Reads both columns into decoder->times: `count` gaps, then `count` durations. Returns 0, -ENOMEM
 * or -EBADMSG. */
int dft_times_get(struct dft_decoder *decoder, const struct dft_block_header *header, const void *payload);

#endif
