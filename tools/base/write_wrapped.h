/* SPDX-License-Identifier: MIT */
/* Sentences in lines that fit the terminal. */
#ifndef DFT_WRITE_WRAPPED_H
#define DFT_WRITE_WRAPPED_H

#include <stdio.h>

/* Writes a text, and a newline. The first line follows a title, the others are as far to the
 * right. A title has `indent` columns with the blanks behind it, or more. A word that is longer
 * than a line stands in a line of its own, or where lines shall fit (dft_terminal_fits) in several,
 * broken behind a '/' where there is one. */
void dft_text_wrapped(FILE *out, const char *title, unsigned indent, const char *text);

/* The same to standard output, without a title; the newline is added. */
void dft_print_wrapped(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A sentence that is written piece by piece; dft_sentence_end prints it wrapped, and frees it. */
struct dft_sentence {
    char *text;
    size_t length;
};
/* NULL: no memory. */
FILE *dft_sentence_begin(struct dft_sentence *sentence);
/* Returns 0 or -ENOMEM. `piece` may be NULL, as dft_sentence_begin returned it. */
int dft_sentence_end(struct dft_sentence *sentence, FILE *piece, const char *title, unsigned indent);

/* Writes to standard error " Did you mean X?", where a word (up to a comma or a colon) is near, and
 * in lines of their own "TITLE a, b, c" with all words there are. NULL: there is no word. */
void dft_say_words(const char *word, const char *title, const char *const *words, size_t count);

#endif
