/* SPDX-License-Identifier: MIT */
/* Texts that are too long for their column. */
#ifndef DFT_WRITE_CUT_H
#define DFT_WRITE_CUT_H

#include <stddef.h>

/* The text cut to so many columns, at least 5: of a path (`is_path`) as many whole components at
 * its end as there is room for, else a third of its beginning and the end. The caller frees it;
 * NULL: no memory. */
char *dft_text_cut(const char *text, size_t width, int is_path);
/* The same where the text is wider than that; else a copy of it. */
char *dft_text_fit(const char *text, size_t width, int is_path);
/* The same of a text that another one would look like: what is left shows where they differ, and
 * the end. */
char *dft_text_cut_apart(const char *text, const char *other, size_t width);

#endif
