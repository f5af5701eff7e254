/* SPDX-License-Identifier: MIT */
/* The head of the page. */
#ifndef DFT_SUMMARY_PAGE_HEAD_H
#define DFT_SUMMARY_PAGE_HEAD_H

#include "summary/page.h"

/* Three lines; of `over_time`, I/O by time (without groups: not known), one more. */
void dft_page_head(const struct dft_page *page, const struct dft_answer *over_time);
/* The same in one line. */
void dft_page_head_line(const struct dft_page *page);

#endif
