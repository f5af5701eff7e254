/* SPDX-License-Identifier: MIT */
/* Encoders of merge, and texts of names that must come along. */
#ifndef DFT_MERGE_ENCODER_H
#define DFT_MERGE_ENCODER_H

#include "source/archive.h"

/* Encodes the texts of names in a COVERED block. Returns the bytes (*text: until the encoder is
 * used again), 0: there are none, or it cannot be read, which is noted; or -errno. */
long dft_merge_names_of(struct dft_reader *reader, struct dft_encoder *encoder, const struct dft_block *block,
                        const void **text);

/* Texts of names that were referred to only in COVERED blocks, which do not come along: kept.
 * Returns 0 or -errno. */
int dft_merge_covered_names(struct dft_archive *archive, struct dft_reader *reader, struct dft_encoder *encoder,
                            const struct dft_block *block);

/* An encoder of one's own. NULL: no memory. */
struct dft_encoder *dft_merge_encoder(void);
void dft_merge_encoder_free(struct dft_encoder *encoder);

#endif
