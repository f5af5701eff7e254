/* SPDX-License-Identifier: MIT */
/* The answer of dftmerge overlap, as text and as JSON. */
#ifndef DFT_OVERLAP_OUTPUT_H
#define DFT_OVERLAP_OUTPUT_H

#include <stdio.h>

#include "analysis/overlap.h"

enum dft_overlap_by { DFT_OVERLAP_BY_RANK, DFT_OVERLAP_BY_PROCESS, DFT_OVERLAP_BY_EPOCH, DFT_OVERLAP_BY_STEP };

/* At most `top` lines of the table. Returns 0 or -ENOMEM. */
int dft_overlap_text(const struct dft_overlap *overlap, struct dft_source *source, enum dft_overlap_by by,
                     uint64_t top);
/* Writes the object, with at most `scopes` epochs and as many steps. */
void dft_overlap_json(FILE *out, const struct dft_overlap *overlap, struct dft_source *source, uint32_t scopes);

#endif
