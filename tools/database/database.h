/* SPDX-License-Identifier: MIT */
/* Databases of SQLite: opening, statements, errors for people, and Ctrl-C.
 *
 * All functions say on stderr what went wrong, and what to do. They return 0 or an error of SQLite
 * (SQLITE_INTERRUPT after Ctrl-C). */
#ifndef DFT_DATABASE_H
#define DFT_DATABASE_H

#include <sqlite3.h>

enum dft_database_use {
    DFT_DATABASE_READ,  /* it must be there */
    DFT_DATABASE_WRITE, /* it is made where it is not there */
    DFT_DATABASE_MEMORY /* the path is NULL */
};

/* Opens a database. A file that is none, or is damaged in its head, is an error here and stays as it
 * is. The caller closes *db by sqlite3_close_v2, after an error as well. */
int dft_database_open(sqlite3 **db, const char *path, enum dft_database_use use);

/* Runs statements that give no rows. `doing` stands in an error: "making the tables". */
int dft_database_run(sqlite3 *db, const char *sql, const char *doing);
/* The caller ends *statement by sqlite3_finalize. */
int dft_database_prepare(sqlite3 *db, sqlite3_stmt **statement, const char *sql, const char *doing);
/* Steps a statement that changes data, and resets it. */
int dft_database_step(sqlite3_stmt *statement, const char *doing);

/* Says the last error of a database. Ctrl-C is said without SQLite's words. */
void dft_database_say(sqlite3 *db, const char *doing);

/* From now on Ctrl-C, SIGTERM and SIGHUP end the statement that runs in this database, which rolls back what
 * it has changed. NULL: they do again what they did before. Signals that the process ignores stay so. One
 * database at a time. */
void dft_database_interruptible(sqlite3 *db);
/* The signal that came since then, or 0. */
int dft_database_interrupted(void);

#endif
