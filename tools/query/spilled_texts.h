/* SPDX-License-Identifier: MIT */
/* The texts of all names in the spill file, divided by their ids, for groups that come in batches.
 *
 * Groups by file, directory or pattern need the texts of these to be put in order. All names of
 * the source are read once; a batch reads those of its own partitions, whose numbers are those of
 * its groups. */
#ifndef DFT_SPILLED_TEXTS_H
#define DFT_SPILLED_TEXTS_H

#include "query/partitions.h"
#include "query/file_facts.h"

struct dft_spilled_texts;

/* The hash that both groups and texts are divided by. */
uint64_t dft_spilled_text_hash(uint64_t id);
/* Puts the texts of all files, or of their directories or patterns, into the file. `files`: what
 * is known of files, or NULL. Returns 0 or -errno. */
int dft_spilled_texts_create(struct dft_spilled_texts **texts, struct dft_source *source,
                             const struct dft_file_facts *files, const struct dft_partitions *groups);
void dft_spilled_texts_destroy(struct dft_spilled_texts *texts); /* NULL: nothing */
/* From now on the groups are those of partitions [first, last). */
void dft_spilled_texts_choose(struct dft_spilled_texts *texts, uint32_t first, uint32_t last);
/* Those of the chosen partitions that are among these ids, into `into`. Returns 0 or -errno. */
int dft_spilled_texts_load(struct dft_spilled_texts *texts, struct dft_names *into, const uint64_t *ids, size_t count);

#endif
