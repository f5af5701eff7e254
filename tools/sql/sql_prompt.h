/* SPDX-License-Identifier: MIT */
/* Statements from standard input. */
#ifndef DFT_SQL_PROMPT_H
#define DFT_SQL_PROMPT_H

#include "sql/sql.h"

/* Reads statements from standard input until its end; with a prompt on a terminal. Returns an exit
 * code. */
int dft_sql_prompt(struct dft_sql *sql);

#endif
