/* SPDX-License-Identifier: MIT */
/* The words of the prompt, such as .tables and .schema, and the examples. */
#ifndef DFT_SQL_WORDS_H
#define DFT_SQL_WORDS_H

#include "sql/sql.h"

/* Runs a word such as ".tables", with what follows it. Returns an exit code; -1: the prompt ends. */
int dft_sql_word(struct dft_sql *sql, const char *text);
/* Is the text such a word? */
int dft_sql_is_word(const char *text);
/* Prints useful queries. */
void dft_sql_examples(void);

#endif
