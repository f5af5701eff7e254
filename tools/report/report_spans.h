/* SPDX-License-Identifier: MIT */
/* The section of the page about a database of spans. */
#ifndef DFT_REPORT_SPANS_H
#define DFT_REPORT_SPANS_H

/* Makes the member "spans" of the page as JSON in *text, which the caller frees; NULL where `path`
 * is NULL. `page`: where the page goes, which must not be the database. `quiet`: without notes.
 * Returns 0, or the exit code after an error. */
int dft_report_spans(char **text, const char *path, const char *root, const char *page, int quiet);

#endif
