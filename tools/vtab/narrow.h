/* SPDX-License-Identifier: MIT */
/* A filter that is narrower than the user's, by what a query compares with. */
#ifndef DFT_VTAB_NARROW_H
#define DFT_VTAB_NARROW_H

#include "vtab/plan.h"

struct dft_narrow {
    struct dft_filter filter;
    uint64_t owned; /* the options (1 << number) whose values are ours */
    int is_empty;   /* no row can pass */
};

/* Begins with the store's filter, and narrows it by the arguments of xFilter. What a filter cannot
 * say stays as it is. Returns 0 or -ENOMEM. */
int dft_narrow_make(struct dft_narrow *narrow, const struct dft_store *store, enum dft_table_number table,
                    const struct dft_vtab_plan *plan, sqlite3_value **values);
void dft_narrow_free(struct dft_narrow *narrow);

/* The value of a cell that equals this one. Returns 1; 0: none does; -1: SQLite alone can tell. */
int dft_narrow_value(struct dft_kept_value *to, enum dft_cell_type type, sqlite3_value *value);

#endif
