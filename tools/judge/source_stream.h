/* SPDX-License-Identifier: MIT */
/* Coverage within one stream: compares the blocks of one part with each other. */
#ifndef DFT_SOURCE_STREAM_H
#define DFT_SOURCE_STREAM_H

#include <stddef.h>

#include "object/object.h"
#include "object/source_span.h"

/* The state while coverage goes through the blocks, stream by stream. */
struct dft_covering {
    struct dft_source *source;
    struct dft_block **kept;
    struct dft_span *spans; /* ranges taken in this stream; the ranges of whole blocks come first */
    size_t nspans, capacity;
    int rc;
};

/* Judges the blocks of one part of one stream, sorted by range. */
void dft_cover_part(struct dft_covering *covering, struct dft_block **blocks, size_t count);
/* Does a block say something that no other block says? */
int dft_cover_is_kept(const struct dft_block *block);

#endif
