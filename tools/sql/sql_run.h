/* SPDX-License-Identifier: MIT */
/* Runs statements, and says what is wrong with them. */
#ifndef DFT_SQL_RUN_H
#define DFT_SQL_RUN_H

#include "sql/sql.h"

/* Runs the statements of a text one by one, and prints what they give. Says on stderr what is wrong.
 * Returns an exit code. */
int dft_sql_run(struct dft_sql *sql, const char *text);
/* Says what the last error of the database is, and the nearest word there is. */
void dft_sql_say(sqlite3 *db);
/* Says which name of a table or a column is nearest, as the end of a line on stderr. */
void dft_sql_say_nearest(sqlite3 *db, const char *word, int is_column);

#endif
