/* SPDX-License-Identifier: MIT */
/* What lies beside the inputs without being named. */
#ifndef DFT_SOURCE_BESIDE_H
#define DFT_SOURCE_BESIDE_H

#include "source/source_scan.h"

/* Adds live files beside the traces that were scanned since the last call, and traces beside the live files that were copied
 * or are gone since. *scanned grows with the source's files. Returns 0 or -ENOMEM. */
int dft_find_beside(struct dft_source *source, struct dft_scanned **scanned);

#endif
