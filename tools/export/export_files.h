/* SPDX-License-Identifier: MIT */
/* Finds the files that the events behind a filter refer to. For formats whose dictionaries come
 * first. */
#ifndef DFT_EXPORT_FILES_H
#define DFT_EXPORT_FILES_H

#include "views/filter.h"

/* Collects the ids of these files on rank 0. Reads all blocks, on all ranks of dftmerge-mpi:
 * collective. The caller destroys *files in any case. All ranks return the same 0 or -ENOMEM.
 * Memory is 24 to 48 bytes a file. */
struct dft_files;
int dft_files_collect(struct dft_files **files, struct dft_source *source, const struct dft_filter *filter);
/* Gives the name id and the text of every file. Only rank 0 calls this, and once. Files come in the
 * order in which their texts first stand in the traces. Files whose text is nowhere follow by id,
 * with "#" and the id as text. Reads all blocks. Returns 0 or -ENOMEM. */
int dft_files_emit(struct dft_files *files, void (*emit)(void *context, uint64_t id, struct dft_text text),
                   void *context);
void dft_files_destroy(struct dft_files *files);

#endif
