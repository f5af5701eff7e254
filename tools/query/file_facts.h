/* SPDX-License-Identifier: MIT */
/* What a query must know of files while it counts, by their ids: the directory or pattern, and
 * whether they pass --file.
 *
 * Not their texts, which may take any memory: each block's names are looked at once and forgotten, which leaves 16
 * bytes a file (in a table that is between a third and two thirds full, of each of both that is requested).
 * Directories, patterns and the like stand in no block: their texts are made again from that of any file in them, when
 * they are to be shown. */
#ifndef DFT_QUERY_FILES_H
#define DFT_QUERY_FILES_H

#include "views/file_groups.h"
#include "views/filter.h"

struct dft_file_facts;

/* `depth`: as in dft_file_grouping. Looks at the names of all blocks. Returns 0 or -ENOMEM. Collective. `filter` must
 * live as long as files are requested. */
int dft_file_facts_create(struct dft_file_facts **files, struct dft_source *source, const struct dft_filter *filter,
                          enum dft_file_facts_by by, unsigned depth);
void dft_file_facts_destroy(struct dft_file_facts *files); /* NULL: nothing */

/* Of a file whose text is nowhere what its "#id" says, here and there. Any thread. */
int dft_file_facts_passes(const struct dft_file_facts *files, uint64_t file);
/* Does it stand for all files below a directory that were not distinguished? */
int dft_file_facts_is_folded(const struct dft_file_facts *files, uint64_t file);
/* The type of the file system of a group by mount point; empty: not known. */
struct dft_text dft_file_facts_type(const struct dft_file_facts *files, struct dft_text point);
int dft_file_facts_has_mounts(const struct dft_file_facts *files);
int dft_file_facts_group(const struct dft_file_facts *files, uint64_t file, uint64_t *group); /* 0 or -ENOMEM */

/* Calls `emit` with the texts of all names of the source, or (files is not NULL) of their
 * directories or patterns, from several threads at once. Returns 0 or what `emit` returned. */
int dft_file_facts_each_text(const struct dft_file_facts *files, struct dft_source *source,
                             int (*emit)(void *context, uint64_t id, struct dft_text text), void *context);
/* The texts of these directories or patterns, as far as the source's table does not have them,
 * into `into`. Collective. */
int dft_file_facts_texts(const struct dft_file_facts *files, struct dft_names *into, const uint64_t *groups,
                         size_t count);

#endif
