/* SPDX-License-Identifier: MIT */
/* The tables of a live file, whose threads keep aggregates only, as rows. */
#ifndef DFT_SOURCE_TABLES_H
#define DFT_SOURCE_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "format/row.h"

/* Gets the rows of one stream, with the range of numbers that they cover. 0: go on; else it ends and
 * the value is returned. */
typedef int dft_tables_fn(void *context, const struct dft_buckets *buckets);

/* Gives the rows of each table, calls first, then histograms and files. `bytes`: a live file of
 * `length` bytes, which nobody changes meanwhile, or whose process is gone; of the process `key`.
 * Returns 0, what emit returned, or -ENOMEM. *bad counts tables that make no sense. */
int dft_live_tables(const void *bytes, size_t length, uint64_t key, dft_tables_fn *emit, void *context, uint64_t *bad);

#endif
