/* SPDX-License-Identifier: MIT */
/* Blocks without names. */
#ifndef DFT_ANONYMIZE_BLOCKS_H
#define DFT_ANONYMIZE_BLOCKS_H

#include "anonymize/anonymizer.h"

/* The key of a process that stands for another; 0 stays. */
uint64_t dft_anonymizer_key(struct dft_anonymizer *anonymizer, uint64_t key);
/* Rewrites one block. `put` takes the result. Types that hold nothing to give away are left
 * out: NAMES, PROCESS, ORIGIN, and what this version does not know. */
int dft_anonymizer_block(struct dft_anonymizer *anonymizer, const struct dft_block_header *header, const void *payload,
                         int (*put)(void *context, const void *block, size_t length), void *context);

#endif
