/* SPDX-License-Identifier: MIT */
/* What the tables of one connection share, and the tables themselves. */
#ifndef DFT_VTAB_CONNECTION_H
#define DFT_VTAB_CONNECTION_H

#include "vtab/api.h"
#include "vtab/store.h"
#include "vtab/vtab.h"

struct dft_vtabs {
    sqlite3 *db;
    struct dft_store *stores;
    struct dft_vtab_use use;
};

/* A virtual table. */
struct dft_vtab {
    sqlite3_vtab base; /* first: SQLite's own part */
    struct dft_vtabs *connection;
    struct dft_store *store;
    enum dft_table_number number;
};

/* The error of SQLite for -errno. *message (may stay NULL) says what is wrong. */
int dft_vtab_error(int rc, char **message);

#endif
