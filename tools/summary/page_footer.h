/* SPDX-License-Identifier: MIT */
/* The footer of the page, once for all its sections. */
#ifndef DFT_SUMMARY_PAGE_FOOTER_H
#define DFT_SUMMARY_PAGE_FOOTER_H

#include "summary/page.h"

void dft_page_footer(const struct dft_page *page, const struct dft_unseen *unseen);

#endif
