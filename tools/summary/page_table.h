/* SPDX-License-Identifier: MIT */
/* The page's tables. */
#ifndef DFT_SUMMARY_PAGE_TABLE_H
#define DFT_SUMMARY_PAGE_TABLE_H

#include "summary/page.h"

/* Returns 0 or -ENOMEM. */
int dft_page_table(const struct dft_page_table *table);
/* Adds a group to one that is a line. */
void dft_page_add_group(struct dft_group *line, const struct dft_group *group);
/* Lines of the groups of an answer, less those below a thousandth of `share_ns` (0: all). The
 * caller frees them. NULL: no memory. */
struct dft_page_line *dft_page_lines(const struct dft_answer *answer, uint64_t share_ns, uint32_t *count);

#endif
