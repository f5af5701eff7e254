/* SPDX-License-Identifier: MIT */
/* Files beside the indexes that are of many traces: what they are of, where they lie, reading and writing.
 *
 * Each has an ORIGIN block that says of which blocks of events it was made (their keys, ranges and checksums): where these are not
 * exactly those of the source (a trace was added, changed or left out, a block is damaged), it does not count. So nobody needs to
 * keep it up to date: whoever could have used it makes it anew. Behind ORIGIN stands what the file is for. */
#ifndef DFT_INDEX_BESIDE_H
#define DFT_INDEX_BESIDE_H

#include "dftracer/foreign_index.h"
#include "source/source_object.h"

#define DFT_BESIDE_EVENTS 65536u /* with fewer events it is not worth a file */

/* What a file must be of to fit the source; version: of what stands in it. Returns 0: the source has none, because it is not of
 * indexed traces alone, or small; else 1. */
int dft_beside_key(const struct dft_source *source, uint64_t version, struct dft_index_key *key);

/* ".WHAT-<directory>.dft" beside the index of the first trace. <directory> stands for the directory that all traces lie
 * in or below. From malloc, or NULL. */
char *dft_beside_path(const struct dft_source *source, const char *what);

/* All behind ORIGIN of a file that fits, of at most `most` bytes: *bytes is from malloc. Returns 1; 0: there is none, or it cannot be
 * read; or -ENOMEM. */
int dft_beside_read(const char *path, const struct dft_index_key *key, size_t most, struct dft_pfw_counts *counts,
                    char **bytes, size_t *length);

/* Writes one, where one can: who cannot, makes it again the next time. */
void dft_beside_write(const char *path, const struct dft_index_key *key, const struct dft_pfw_counts *counts,
                      const void *bytes, size_t length);

#endif
