/* SPDX-License-Identifier: MIT */
/* The section of the page about files. */
#ifndef DFT_SUMMARY_PAGE_FILES_H
#define DFT_SUMMARY_PAGE_FILES_H

#include "summary/page.h"

int dft_page_files(const struct dft_page *page, struct dft_answer *answer, uint64_t top);

#endif
