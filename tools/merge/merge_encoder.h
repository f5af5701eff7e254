/* SPDX-License-Identifier: MIT */
/* Encoders of merge, and texts of names that must come along. */
#ifndef DFT_MERGE_ENCODER_H
#define DFT_MERGE_ENCODER_H

#include "intake/archive.h"

/* Keeps texts of names that stand only in COVERED blocks, which do not come along. Returns 0 or
 * -errno. */
int dft_merge_covered_names(struct dft_archive *archive, struct dft_reader *reader, struct dft_encoder *encoder,
                            const struct dft_block *block);

/* Makes an encoder for the caller alone. NULL: no memory. */
struct dft_encoder *dft_merge_encoder(void);
void dft_merge_encoder_free(struct dft_encoder *encoder);

#endif
