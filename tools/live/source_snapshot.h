/* SPDX-License-Identifier: MIT */
/* Copies live files whose processes go on while these files are read. */
#ifndef DFT_SOURCE_SNAPSHOT_H
#define DFT_SOURCE_SNAPSHOT_H

#include "intake/source_scan.h"

/* Copies a whole live file whose process may go on meanwhile. A slot that changes while it is copied
 * becomes BUSY in the copy. `to` holds zeros. Holes of the file are passed over; fd: of the file, or -1. */
void dft_live_copy(char *to, const char *from, size_t bytes, int fd);
/* Finds all live files, and copies those of running processes into file->snapshot. The copies are
 * made before the last scan of the traces. What a process drains in between is then seen twice, and
 * not missed. Returns 0 or -ENOMEM. */
int dft_live_snapshots(struct dft_source *source, struct dft_scanned **scanned);
/* After the copies were read: scans traces again whose live files have gone since dft_live_snapshots.
 * What other traces have more by now overlaps what was read of the copies, or may be a PROCESS whose
 * live file nobody has looked for. Returns 0 or -ENOMEM. */
int dft_scan_gone(struct dft_source *source, struct dft_scanned *scanned);

#endif
