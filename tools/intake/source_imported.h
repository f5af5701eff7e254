/* SPDX-License-Identifier: MIT */
/* Traces of DFTracer in a source. */
#ifndef DFT_SOURCE_IMPORTED_H
#define DFT_SOURCE_IMPORTED_H

#include "intake/source_scan.h"

/* Converts all files of DFTracer, and scans the blocks that result. Returns 0 or -ENOMEM. */
int dft_imported_files(struct dft_source *source, struct dft_scanned *scanned);

#endif
