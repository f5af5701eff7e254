/* SPDX-License-Identifier: MIT */
/* Words and sizes in the options of a filter, and what its parsers share. */
#ifndef DFT_FILTER_WORDS_H
#define DFT_FILTER_WORDS_H

#include "views/filter.h"

/* Each changes its text, and returns 0, -EINVAL with *why, or -ENOMEM. */
int dft_filter_add_words(struct dft_filter_values *values, enum dft_filter_option option, char *text, char *why);
int dft_filter_add_sizes(struct dft_filter_values *values, char *text, char *why);

/* filter_parse.c */

/* Writes `why` (DFT_FILTER_WHY bytes). Returns -EINVAL. */
int dft_filter_deny(char *why, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The number at *text, and moves *text behind it. Returns 0 or -EINVAL. */
int dft_filter_number(const char **text, uint64_t *value);
int dft_filter_add_range(struct dft_filter_values *values, uint64_t low, uint64_t high);
int dft_filter_add_ranges(struct dft_filter_values *values, const char *text);

#endif
