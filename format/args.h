/* SPDX-License-Identifier: MIT */
/* The arguments of events: the columns ARG_EVENT, ARG_KEY, ARG_TYPE and ARG_VALUE. */
#ifndef DFT_ARGS_H
#define DFT_ARGS_H

#include "decoder.h"
#include "encoder.h"

/* Checks a batch's arguments, which are of that many events, and gives their keys positions among
 * the names: *keys, in the arena. Returns 0, -EINVAL or -E2BIG. */
int dft_args_begin(struct dft_encoder *encoder, struct dft_entries *entries, const struct dft_batch *batch,
                   uint32_t events, uint32_t **keys);
void dft_args_put(struct dft_raw *raw, const struct dft_batch *batch, const uint32_t *keys);

/* Reads them into batch->args. Names have been read. Returns 0, -ENOMEM or -EBADMSG. */
int dft_args_get(struct dft_decoder *decoder, const struct dft_block_header *header, struct dft_batch *batch);

#endif
