/* SPDX-License-Identifier: MIT */
/* Which patterns of the first run and of another one mean the same files although they lie in different directories. */
#ifndef DFT_COMPARE_MATCH_H
#define DFT_COMPARE_MATCH_H

#include "compare/compare.h"

/* Which patterns of A and B are the same in other directories. */
int dft_compare_match(struct dft_comparison *comparison);
/* The text of an item's pattern for people and programs: "..." stands for the directories that are
 * taken for each other. Into `text` if that is needed (free what it points to after use). Returns 0
 * or -ENOMEM. */
int dft_compare_pattern(const struct dft_comparison *comparison, uint64_t file, char **text, uint32_t *length);

#endif
