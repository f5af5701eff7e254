/* SPDX-License-Identifier: MIT */
/* A line of a weave file, read from left to right. */
#ifndef DFT_WEAVE_TEXT_H
#define DFT_WEAVE_TEXT_H

#include <stddef.h>

/* Where in the line we are, and what is wrong with it. */
struct dft_weave_text {
    const char *at;
    const char *wrong; /* NULL: nothing yet */
    char word[64];     /* that it is about; "" none */
};

/* Says what is wrong, unless something has been said before. Returns -EINVAL. */
int dft_weave_fail(struct dft_weave_text *text, const char *wrong, const char *word, size_t length);

void dft_weave_skip_blanks(struct dft_weave_text *text);
/* Length of the word that comes next, at text->at; 0: something else does. */
size_t dft_weave_next_word(struct dft_weave_text *text);
int dft_weave_is_word(const char *at, size_t length, const char *word);
/* Goes behind it if it comes next. */
int dft_weave_take(struct dft_weave_text *text, char c);
int dft_weave_take_word(struct dft_weave_text *text, const char *word);
/* Goes behind the parenthesis that closes the one just taken. Returns 0 or -EINVAL. */
int dft_weave_skip_parentheses(struct dft_weave_text *text);
/* A copy for good, cut to 1,023 bytes. */
const char *dft_weave_keep_word(const char *at, size_t length);

#endif
