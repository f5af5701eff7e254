/* SPDX-License-Identifier: MIT */
/* The table of hashes and what they stand for, as a file, and texts translated by it. */
#ifndef DFT_ANONYMIZE_TABLE_H
#define DFT_ANONYMIZE_TABLE_H

#include "anonymize/words.h"

/* Writes the table for its owner alone. Never replaces a file. Says on stderr why not. Returns 0 or
 * -errno. */
int dft_table_write(const struct dft_hashes *words, const char *path);
/* Copies standard input to standard output, and replaces hashes by what they stand for. Says on stderr
 * why not. Returns 0 or -errno. */
int dft_table_translate(const char *path);

#endif
