/* SPDX-License-Identifier: MIT */
/* Copies of live files whose processes go on while they are read. */
#ifndef DFT_SOURCE_SNAPSHOT_H
#define DFT_SOURCE_SNAPSHOT_H

#include "source/source_scan.h"

/* Finds all live files, and copies those of running processes (file->snapshot) before what their traces hold is looked at for
 * the last time: what a process drains meanwhile is seen twice, not missed. Returns 0 or -ENOMEM. */
int dft_live_snapshots(struct dft_source *source, struct dft_scanned **scanned);
/* Scans the traces anew that have another size by now. Returns 0 or -ENOMEM. */
int dft_scan_grown(struct dft_source *source, struct dft_scanned *scanned);

#endif
