/* SPDX-License-Identifier: MIT */
/* Beside the indexes of many traces one more file: what all of them did, by region, call and file together. Questions by
 * file that do not tell processes, threads or times apart are answered from it without an event being read. */
#ifndef DFT_INDEX_TOGETHER_H
#define DFT_INDEX_TOGETHER_H

#include "query/index_beside.h"
#include "source/source_inside.h"

#define DFT_TOGETHER_BYTES ((size_t)64 << 20) /* of the file, at most */

/* What it must be of to fit the source. Returns 0: the source has none, because it is not of indexed traces alone, or
 * small; else 1. */
int dft_together_key(const struct dft_source *source, struct dft_index_key *key);
/* Reads it. Returns 1: it is there and fits (bytes may be NULL), 0: not, or -ENOMEM. */
int dft_together_read(const struct dft_source *source, const struct dft_index_key *key, struct dft_together *together);
/* Writes it, where one can: who cannot, makes it again the next time. */
void dft_together_write(const struct dft_source *source, const struct dft_index_key *key,
                        const struct dft_together *together);
/* That of the source, empty at first; it goes with the source. */
struct dft_together *dft_source_together(struct dft_source *source);

#endif
