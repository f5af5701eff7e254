/* SPDX-License-Identifier: MIT */
/* Parts: blocks that hold those events of a range that were organised into one group. The rules stand in source.h. */
#ifndef DFT_SOURCE_PARTS_H
#define DFT_SOURCE_PARTS_H

#include "source/source_stream.h"

/* The blocks of all parts of one stream, sorted by part, after the whole ones; in_flight: these say what was in flight. */
void dft_cover_parts(struct dft_covering *covering, struct dft_block **blocks, size_t count, int in_flight);
/* Notes what divisions are not complete, and marks their processes. */
void dft_groups_notes(struct dft_source *source);

#endif
