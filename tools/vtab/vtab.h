/* SPDX-License-Identifier: MIT */
/* The tables of traces as virtual tables of SQLite: the module `dftrace`, the function
 * dftrace_open('PATH', ...), and the views.
 *
 * Nothing here prints or ends the program. Errors are errors of SQLite. */
#ifndef DFT_VTAB_H
#define DFT_VTAB_H

#include <stdint.h>

struct sqlite3;
struct dft_source;
struct dft_filter;
struct dft_vtabs;

/* Adds the module and the function to a connection. With a source, `using dftrace('events')` without
 * a path means that source. The source and the filter must live as long as the connection, and the
 * connection is used by the thread that has opened the source. The connection owns *tables (may be
 * NULL). Returns 0 or an error of SQLite. */
int dft_vtab_register(struct sqlite3 *db, struct dft_source *source, const struct dft_filter *filter,
                      struct dft_vtabs **tables);

/* Makes all tables and views in the schema temp; `arguments` are behind the table's name: ", 'PATH'".
 * What an earlier call has made is made anew. *message (may stay NULL) says what is wrong, and is
 * freed by sqlite3_free. Returns 0 or an error of SQLite. */
int dft_vtab_create_all(struct sqlite3 *db, const char *arguments, char **message);

/* What was read of the table events since the last dft_vtab_forget. */
struct dft_vtab_use {
    uint64_t events;  /* rows that were returned to SQLite */
    uint64_t columns; /* columns that were requested */
};
struct dft_vtab_use dft_vtab_used(const struct dft_vtabs *tables);
void dft_vtab_forget(struct dft_vtabs *tables);

#endif
