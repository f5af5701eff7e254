/* SPDX-License-Identifier: MIT */
/* A small table that is held in memory: one batch, and for each column that was requested an order of
 * its rows by value. */
#ifndef DFT_VTAB_KEPT_H
#define DFT_VTAB_KEPT_H

#include "tables/tables.h"

struct dft_kept;

/* Reads the whole table. Returns 0, -errno, or -EINTR as dft_feed_next does. */
int dft_kept_read(struct dft_kept **kept, struct dft_source *source, const struct dft_filter *filter,
                  enum dft_table_number table, int (*interrupted)(void *context), void *context);
void dft_kept_free(struct dft_kept *kept); /* NULL: does nothing */

const struct dft_table_batch *dft_kept_batch(const struct dft_kept *kept);

/* What a cell is compared with: `text` for columns of texts, else `integer`. */
struct dft_kept_value {
    int64_t integer;
    struct dft_text text;
};
/* The numbers of the rows in which a column (not of REAL) has the value: *count of them at *rows.
 * Returns 0 or -ENOMEM. */
int dft_kept_find(struct dft_kept *kept, unsigned column, const struct dft_kept_value *value, const uint32_t **rows,
                  uint32_t *count);

#endif
