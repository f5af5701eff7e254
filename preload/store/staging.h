/* SPDX-License-Identifier: MIT */
/* Whole blocks on their way into the file. */
#ifndef DFT_STAGING_H
#define DFT_STAGING_H

#include "store/context.h"

/* One whole block, with so many events in it; length: what the encoder returned. */
void dft_staging_put(struct dft_context *context, const void *block, long length, uint32_t events);

/* What was put goes to the file. context->failed when it did not: then its events are counted as lost, with the reason. */
void dft_staging_flush(struct dft_context *context);

/* Adds blocks to the file, encoded one after the other with a context's encoder and written together. Signals blocked.
 * Returns 0, -ENOMEM, or -EIO: they could not be written. */
struct dft_staging_block {
    long (*encode)(struct dft_encoder *encoder, const void *what, const void **block);
    const void *what;
};
int dft_staging_write(const struct dft_staging_block *blocks, uint32_t count);

#endif
