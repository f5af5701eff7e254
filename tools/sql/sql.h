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

/* Runs the statements of a text one by one, and prints what they give. Says on stderr what is wrong.
 * Returns an exit code. */
int dft_sql_run(struct dft_sql *sql, const char *text);

/* Runs a word such as ".tables", with what follows it. Returns an exit code; -1: the prompt ends. */
int dft_sql_word(struct dft_sql *sql, const char *text);
/* Is the text such a word? */
int dft_sql_is_word(const char *text);
/* Prints useful queries. */
void dft_sql_examples(void);

/* Reads statements from standard input until its end; with a prompt on a terminal. Returns an exit
 * code. */
int dft_sql_prompt(struct dft_sql *sql);

/* Says what the last error of the database is, and the nearest word there is. */
void dft_sql_say(sqlite3 *db);
/* Says which name of a table or a column is nearest, as the end of a line on stderr. */
void dft_sql_say_nearest(sqlite3 *db, const char *word, int is_column);

#endif
