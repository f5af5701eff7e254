/* SPDX-License-Identifier: MIT */
/* The processes of a source, out of what was scanned. */
#ifndef DFT_SOURCE_PROCESS_H
#define DFT_SOURCE_PROCESS_H

#include "source/source_scan.h"

/* Processes and blocks from what was scanned (which is emptied). Returns 0 or -ENOMEM. */
int dft_source_collect(struct dft_source *source, struct dft_scanned *scanned);
/* The process with a key that is known to be there. */
struct dft_source_process *dft_process_of(const struct dft_source *source, uint64_t key);

#endif
