/* SPDX-License-Identifier: MIT */
/* Staging: whole blocks on their way into the file. */
#ifndef DFT_STAGING_H
#define DFT_STAGING_H

#include "store/context.h"

/* Adds one whole block that holds `events` events. length: the encoder's result. */
void dft_staging_put(struct dft_context *context, const void *block, long length, uint32_t events);

/* Writes the staged blocks to the file. A failure sets context->failed. The events are then counted
 * as lost, with the reason. */
void dft_staging_flush(struct dft_context *context);

/* Adds blocks to the file. A context's encoder encodes them one after the other, and one write
 * writes them together. Signals blocked. Returns 0, -ENOMEM, or -EIO when the blocks could not be
 * written. */
struct dft_staging_block {
    long (*encode)(struct dft_encoder *encoder, const void *what, const void **block);
    const void *what;
};
int dft_staging_write(const struct dft_staging_block *blocks, uint32_t count);

#endif
