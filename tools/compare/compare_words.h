/* SPDX-License-Identifier: MIT */
/* How the text of a comparison writes changes, and its tables. */
#ifndef DFT_COMPARE_WORDS_H
#define DFT_COMPARE_WORDS_H

#include "compare/compare.h"

uint64_t dft_change_size(const struct dft_change *change);
int dft_change_is_up(const struct dft_change *change);
/* "+12.1 s", or "-" */
const char *dft_change_ns(char *text, const struct dft_change *change);
/* "+23 %", "-82 %", "92x", "new", "gone", "-"; "?": a run does not know it */
const char *dft_change_percent(char *text, const struct dft_change *change);

/* One table; `first` is the title of its first column. Returns 0 or -ENOMEM. */
int dft_compare_table(const struct dft_comparison *comparison, enum dft_compared table, const char *title,
                      const char *first);

#endif
