/* Whole blocks on their way into the file. */
#ifndef DFT_STAGING_H
#define DFT_STAGING_H

#include "store/context.h"

/* One whole block, with so many events in it; length: what the encoder returned. */
void dft_staging_put(struct dft_context *context, const void *block, long length, uint32_t events);

/* What was put goes to the file. context->failed when it did not: then its events are counted as lost, with the reason. */
void dft_staging_flush(struct dft_context *context);

#endif
