/* SPDX-License-Identifier: MIT */
/* Which files do the events that pass a filter refer to? For formats whose dictionaries come first. */
#ifndef DFT_EXPORT_FILES_H
#define DFT_EXPORT_FILES_H

#include "source/filter.h"

/* Their ids, on rank 0. Reads all blocks, in all ranks of dftmerge-mpi: collective. *files is to be destroyed, whatever
 * is returned: an agreed 0 or -ENOMEM. Memory is 24 to 48 bytes a file. */
struct dft_files;
int dft_files_collect(struct dft_files **files, struct dft_source *source, const struct dft_filter *filter);
/* On rank 0, once: gives the name id of every file, and its text: in the order in which the texts first stand in the traces,
 * then, by id, those whose text is nowhere ("#" and the id). Reads all blocks. Returns 0 or -ENOMEM. */
int dft_files_give(struct dft_files *files, void (*give)(void *context, uint64_t id, struct dft_text text),
                   void *context);
void dft_files_destroy(struct dft_files *files);

#endif
