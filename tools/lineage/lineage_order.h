/* SPDX-License-Identifier: MIT */
/* Puts the graph in an order that no thread and no file decides, and makes its indexes. */
#ifndef DFT_LINEAGE_ORDER_H
#define DFT_LINEAGE_ORDER_H

#include "lineage/lineage.h"

int dft_lineage_finish(struct dft_lineage *lineage);

#endif
