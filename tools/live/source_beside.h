/* SPDX-License-Identifier: MIT */
/* Files that lie beside the inputs without being named. */
#ifndef DFT_SOURCE_BESIDE_H
#define DFT_SOURCE_BESIDE_H

#include "intake/source_scan.h"

/* Adds live files that lie beside the traces scanned since the last call. Adds traces that lie
 * beside the live files copied or gone since the last call. *scanned grows with the source's files.
 * Returns 0 or -ENOMEM. */
int dft_find_beside(struct dft_source *source, struct dft_scanned **scanned);

#endif
