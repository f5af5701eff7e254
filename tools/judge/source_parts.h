/* SPDX-License-Identifier: MIT */
/* Parts: a part is a block that holds those events of a range that belong to one group. The rules
 * stand in source.h. */
#ifndef DFT_SOURCE_PARTS_H
#define DFT_SOURCE_PARTS_H

#include "judge/source_stream.h"

/* Judges the blocks of all parts of one stream, sorted by part, after the whole blocks. in_flight:
 * these blocks hold events in flight. */
void dft_cover_parts(struct dft_covering *covering, struct dft_block **blocks, size_t count, int in_flight);
/* Notes which divisions are incomplete, and marks their processes. */
void dft_groups_notes(struct dft_source *source);

#endif
