/* SPDX-License-Identifier: MIT */
/* Writes a table as a file of Parquet, whole or not at all. One thread writes a file; files do not
 * know of each other.
 *
 * Columns are flat and optional: INTEGER is INT64, TIME is INT64 as TIMESTAMP(NANOS, UTC), REAL is
 * DOUBLE, TEXT is BYTE_ARRAY as STRING. Bytes that are no UTF-8 become U+FFFD, because readers
 * refuse others. Each batch is a row group. Row groups have statistics, and pages an index. */
#ifndef DFT_PARQUET_H
#define DFT_PARQUET_H

#include "tables/tables.h"

struct dft_parquet;

/* Begins a file at `path`, with those columns of the table whose bits are set. Returns 0 or -errno,
 * and then *file is NULL. Opening a file reads the mask of the process (umask): threads take turns. */
int dft_parquet_open(struct dft_parquet **file, const char *path, const struct dft_table_shape *table,
                     uint64_t columns);

/* Adds a row group. A batch without rows adds none. Returns 0 or -errno; the file can only be
 * closed then. */
int dft_parquet_group(struct dft_parquet *file, const struct dft_table_batch *batch);

/* Ends the file when `rc` is 0, else forgets it. Returns the first error: then nothing is left.
 * Harmless on NULL. */
int dft_parquet_close(struct dft_parquet *file, int rc);

#endif
