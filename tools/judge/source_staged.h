/* SPDX-License-Identifier: MIT */
/* Notes on traces that may still lie in a stage (DFTRACER_STAGE_DIR). */
#ifndef DFT_SOURCE_STAGED_H
#define DFT_SOURCE_STAGED_H

#include "object/object.h"

/* Notes of each staged job which of its ranks have no trace here, and of staged processes without an
 * end: where the rest may be, and how it is collected. */
void dft_staged_notes(struct dft_source *source);

#endif
