/* SPDX-License-Identifier: MIT */
/* Makes the rollup of a source (rollup.h). */
#ifndef DFT_ROLLUP_MAKE_H
#define DFT_ROLLUP_MAKE_H

#include "dftracer/imported_index.h"
#include "source/source_inside.h"

/* Fills the rollup on rank 0 and writes its file; none, where it would have too many groups to be
 * of use. Returns 0 or -ENOMEM. Collective. */
int dft_rollup_make(struct dft_source *source, const struct dft_index_key *key, struct dft_rollup *rollup);

#endif
