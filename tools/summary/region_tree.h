/* SPDX-License-Identifier: MIT */
/* Regions inside each other, and the I/O inside them. */
#ifndef DFT_REGION_TREE_H
#define DFT_REGION_TREE_H

#include <stdio.h>

struct dft_filter;
struct dft_source;

/* Prints a section of the page where regions lie inside each other: H5Dwrite, in it MPI_File_write_at_all,
 * in it pwrite. Returns 0 or -ENOMEM. Collective; rank 0 prints. */
int dft_region_tree_print(FILE *out, struct dft_source *source, const struct dft_filter *filter);

#endif
