/* SPDX-License-Identifier: MIT */
/* A small table that a user wrote: one row a line. Errors name the file and the line. */
#ifndef DFT_TABLE_FILE_H
#define DFT_TABLE_FILE_H

#include <stddef.h>

struct dft_table_file {
    const char *path;
    unsigned line; /* that is read */
    char *error;   /* a text of at most `size` bytes */
    size_t size;
};

/* Without the blanks at both ends, which are overwritten. */
char *dft_trimmed(char *text);
/* Writes the error: "FILE, line 3: WORDWHY Did you mean NEAREST?". `word` may be any bytes of the
 * file; `nearest` may be NULL. Returns -EINVAL. */
int dft_table_file_fail(const struct dft_table_file *file, const char *word, const char *why, const char *nearest);
/* Gives each line to `row`, which may change it, and which returns 0 or -errno: after -EINVAL it
 * has written the error. Returns the first of these, 0, or -errno with an error. */
int dft_table_file_read(struct dft_table_file *file, int (*row)(void *context, char *line), void *context);

#endif
