/* SPDX-License-Identifier: MIT */
/* The file of a rollup: what all indexed traces did, by region, call and file, in one small file
 * beside their indexes.
 *
 * Its ORIGIN block says of which blocks of events the rollup was made: keys, ranges and checksums.
 * Where these are not exactly those of the source, because a trace was added, changed or left out,
 * the file does not count and is made anew. So nothing has to keep it up to date. Behind ORIGIN
 * are blocks of rows (rollup.h); none, where a rollup would be too large to be of use. */
#ifndef DFT_ROLLUP_FILE_H
#define DFT_ROLLUP_FILE_H

#include "dftracer/imported_index.h"
#include "source/source_inside.h"

#define DFT_ROLLUP_BYTES ((size_t)64 << 20) /* of the file, at most */

/* What a rollup must be of to fit the source. Returns 0: the source has none, because it is not of
 * indexed traces alone, or has few events; else 1. */
int dft_rollup_key(const struct dft_source *source, struct dft_index_key *key);
/* Reads the rollup. Returns 1: it is there and fits (bytes may be NULL), 0: it is not, or
 * -ENOMEM. */
int dft_rollup_read(const struct dft_source *source, const struct dft_index_key *key, struct dft_rollup *rollup);
/* Writes the rollup, if that is possible here; otherwise the next question makes it again. */
void dft_rollup_write(const struct dft_source *source, const struct dft_index_key *key, const struct dft_rollup *rollup,
                      struct dft_encoder *encoder);

#endif
