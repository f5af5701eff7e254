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
/* The same with the lines of a text, which it changes. `ends`: the characters that end a line. */
int dft_table_text_read(struct dft_table_file *file, char *text, const char *ends,
                        int (*row)(void *context, char *line), void *context);
/* Cuts the blanks and KEY=VALUE or KEY="VALUE" off the front of *at, which it changes. A quoted value ends at the quote
 * before the next key, so it may have quotes of its own. *key: position in `keys`. Returns 1, 0: the line ends here, or
 * a comment begins, or -EINVAL after an error. */
int dft_table_file_value(const struct dft_table_file *file, char **at, const char *const *keys, unsigned nkeys,
                         unsigned *key, char **value);

#endif
