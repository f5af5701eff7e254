/* SPDX-License-Identifier: MIT */
/* Coverage: which blocks say something new, and which of these answer. The rules stand in
 * source.h. */
#ifndef DFT_SOURCE_COVER_H
#define DFT_SOURCE_COVER_H

#include "object/object.h"

/* Sets state and use of all blocks. Returns 0 or -ENOMEM. */
int dft_source_cover(struct dft_source *source);

#endif
