/* SPDX-License-Identifier: MIT */
/* Encoders of merge, and texts of names that must come along. */
#ifndef DFT_MERGE_ENCODER_H
#define DFT_MERGE_ENCODER_H

#include "source/archive.h"

/* Encodes the texts of names in a COVERED block. Returns the number of bytes, or -errno. *text is
 * valid until the encoder is used again. The number is 0 when the block has no such texts, or
 * cannot be read, which is noted. */
long dft_merge_names_of(struct dft_reader *reader, struct dft_encoder *encoder, const struct dft_block *block,
                        const void **text);

/* Keeps texts of names that stand only in COVERED blocks, which do not come along. Returns 0 or
 * -errno. */
int dft_merge_covered_names(struct dft_archive *archive, struct dft_reader *reader, struct dft_encoder *encoder,
                            const struct dft_block *block);

/* Makes an encoder for the caller alone. NULL: no memory. */
struct dft_encoder *dft_merge_encoder(void);
void dft_merge_encoder_free(struct dft_encoder *encoder);

#endif
