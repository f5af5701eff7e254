/* SPDX-License-Identifier: MIT */
/* What the page of dftmerge report shows of a database of spans. */
#ifndef DFT_SPANS_PAGE_H
#define DFT_SPANS_PAGE_H

/* Makes one object of JSON (the member "spans" of report/README.md) in *text, which the caller
 * frees. `root` NULL: the usual type; `quiet`: without notes. Returns 0, or -1 after it has said what
 * is wrong. */
int dft_spans_page_make(char **text, const char *path, const char *root, int quiet);
/* Are these two paths the same file? */
int dft_spans_is_same_file(const char *a, const char *b);

#endif
