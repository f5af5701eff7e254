/* SPDX-License-Identifier: MIT */
/* Reads the graph from a source. */
#ifndef DFT_LINEAGE_READ_H
#define DFT_LINEAGE_READ_H

#include "lineage/lineage.h"
#include "views/filter.h"

/* Makes a graph of the regions that pass, and of all that was declared in processes that pass.
 * Notes what is missing. Returns 0 or -ENOMEM. The caller frees the graph in any case. */
int dft_lineage_read(struct dft_lineage *lineage, struct dft_source *source, const struct dft_filter *filter);

#endif
