/* SPDX-License-Identifier: MIT */
/* Regions inside each other, and the I/O inside them. */
#ifndef DFT_REGION_TREE_H
#define DFT_REGION_TREE_H

#include <stdio.h>

#include "query/query.h"

/* What it asks, for so many groups by time. */
#define DFT_REGION_TREE 1024u
extern const struct dft_query dft_region_tree_query;
/* Prints a section of the page where regions lie inside each other: H5Dwrite, in it
 * MPI_File_write_at_all, in it pwrite. Returns 0 or -ENOMEM. Rank 0 prints. */
int dft_region_tree_print(FILE *out, const struct dft_answer *answer);

#endif
