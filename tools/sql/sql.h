/* SPDX-License-Identifier: MIT */
/* A session of `dftmerge sql`: a database in memory or of the user, with the tables of traces. */
#ifndef DFT_SQL_H
#define DFT_SQL_H

#include "database/database.h"
#include "vtab/vtab.h"

enum dft_sql_form { DFT_SQL_TABLE, DFT_SQL_JSON, DFT_SQL_CSV };

struct dft_sql {
    sqlite3 *db;
    struct dft_vtabs *tables; /* NULL: no traces were named */
    enum dft_sql_form form;
    int quiet;
    int is_terminal;  /* a prompt stands between answers */
    unsigned answers; /* tables that were printed */
    int has_rows;     /* aggregates answer for some calls without reading the events */
};

#endif
