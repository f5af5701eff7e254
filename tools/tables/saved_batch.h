/* SPDX-License-Identifier: MIT */
/* A batch put aside: in memory that is just large enough, or on the disk. */
#ifndef DFT_TABLES_SAVED_BATCH_H
#define DFT_TABLES_SAVED_BATCH_H

#include "base/spill_file.h"
#include "tables/tables.h"

struct dft_saved_batch {
    char *bytes; /* NULL: on the disk, at `offset` */
    size_t length;
    uint64_t offset;
    uint32_t count; /* rows */
};

/* Saves these columns of a batch. Returns 0 or -ENOMEM. */
int dft_saved_batch_make(struct dft_saved_batch *saved, const struct dft_table_batch *batch, uint64_t columns);
/* Puts it on the disk. Returns 0 or -errno. */
int dft_saved_batch_spill(struct dft_saved_batch *saved, struct dft_spill_file *file);
/* Makes it a batch again, which is valid until dft_saved_batch_fini. `cells` has a place for each
 * column of the table. Returns 0 or -errno. */
int dft_saved_batch_open(struct dft_saved_batch *saved, const struct dft_spill_file *file,
                         const struct dft_table_shape *table, uint64_t columns, struct dft_cells *cells,
                         struct dft_table_batch *batch);
void dft_saved_batch_fini(struct dft_saved_batch *saved);

#endif
