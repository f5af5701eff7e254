/* SPDX-License-Identifier: MIT */
/* The columns GAP and DURATION, and the bit string behind the columns. */
#ifndef DFT_TIMES_H
#define DFT_TIMES_H

#include "decoder.h"
#include "encoder.h"

/* Writes both columns of `count` values, each in the encoding that has proved smaller, and the bits
 * of those that are split: *tail is in the arena. They are to be the block's last columns. Returns
 * 0 or -E2BIG. */
int dft_times_put(struct dft_encoder *encoder, const uint64_t *gaps, const uint64_t *durations, uint32_t count,
                  const uint8_t **tail, size_t *tail_bytes);

/* Reads both columns into decoder->times: `count` gaps, then `count` durations. Returns 0, -ENOMEM
 * or -EBADMSG. */
int dft_times_get(struct dft_decoder *decoder, const struct dft_block_header *header, const void *payload);

#endif
