/* SPDX-License-Identifier: MIT */
/* Builds the processes of a source from what was scanned. */
#ifndef DFT_SOURCE_PROCESS_H
#define DFT_SOURCE_PROCESS_H

#include "source/source_scan.h"

/* Builds processes and blocks from what was scanned, and empties `scanned`. Returns 0 or
 * -ENOMEM. */
int dft_source_collect(struct dft_source *source, struct dft_scanned *scanned);
/* Finds the process with a key. The process must exist. */
struct dft_source_process *dft_process_of(const struct dft_source *source, uint64_t key);
/* Finds the process with a key, or NULL. */
const struct dft_source_process *dft_process_find(const struct dft_source *source, uint64_t key);

#endif
