/* SPDX-License-Identifier: MIT */
/* Plans: what SQLite's planner learns of a table (xBestIndex), and the text in which xFilter gets it
 * back. */
#ifndef DFT_VTAB_PLAN_H
#define DFT_VTAB_PLAN_H

#include "vtab/api.h"
#include "vtab/store.h"

/* A comparison that the table narrows its rows by. SQLite compares again. */
struct dft_vtab_term {
    uint8_t column;
    uint8_t op;     /* SQLITE_INDEX_CONSTRAINT_EQ, _LT, _LE, _GT, _GE */
    uint8_t is_set; /* IN: the argument is a list */
};
#define DFT_VTAB_TERMS 16u

struct dft_vtab_plan {
    uint64_t columns; /* that are requested */
    enum dft_table_order order;
    unsigned nterms; /* of the arguments, in order */
    struct dft_vtab_term terms[DFT_VTAB_TERMS];
};

/* xBestIndex. */
int dft_vtab_plan_make(sqlite3_index_info *info, const struct dft_store *store, enum dft_table_number table);
void dft_vtab_plan_read(struct dft_vtab_plan *plan, const char *text);

/* The option of a filter that narrows a table by this column; -1: there is none. */
int dft_vtab_option_of(enum dft_table_number table, unsigned column);

#endif
