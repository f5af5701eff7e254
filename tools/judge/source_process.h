/* SPDX-License-Identifier: MIT */
/* Builds the processes of a source from what was scanned. */
#ifndef DFT_SOURCE_PROCESS_H
#define DFT_SOURCE_PROCESS_H

#include "intake/source_scan.h"

/* Builds processes and blocks from what was scanned, and empties `scanned`. Returns 0 or
 * -ENOMEM. */
int dft_source_collect(struct dft_source *source, struct dft_scanned *scanned);

#endif
