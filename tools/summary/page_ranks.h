/* SPDX-License-Identifier: MIT */
/* The section of the page about ranks. */
#ifndef DFT_SUMMARY_PAGE_RANKS_H
#define DFT_SUMMARY_PAGE_RANKS_H

#include "summary/page.h"

int dft_page_ranks(const struct dft_page *page, struct dft_answer *answer);

#endif
