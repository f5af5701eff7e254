/* SPDX-License-Identifier: MIT */
/* The function dftrace_open('PATH', ...). */
#ifndef DFT_VTAB_OPEN_H
#define DFT_VTAB_OPEN_H

#include "vtab/api.h"

/* Adds the function to a connection. Returns 0 or an error of SQLite. */
int dft_vtab_add_open(sqlite3 *db);

#endif
