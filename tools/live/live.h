/* SPDX-License-Identifier: MIT */
/* Live files as blocks. */
#ifndef DFT_LIVE_LIVE_H
#define DFT_LIVE_LIVE_H

#include "intake/source_scan.h"

/* Turns all live files, also those found beside traces, into blocks in memory, and scans these
 * blocks. *scanned grows with the source's files. Returns 0 or -ENOMEM. */
int dft_live_files(struct dft_source *source, struct dft_scanned **scanned);

#endif
