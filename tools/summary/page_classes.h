/* SPDX-License-Identifier: MIT */
/* The section of the page by class of calls, and the line of what is no I/O. */
#ifndef DFT_SUMMARY_PAGE_CLASSES_H
#define DFT_SUMMARY_PAGE_CLASSES_H

#include "summary/page.h"

int dft_page_classes(const struct dft_page *page);
/* What waits or is no I/O, in one line. */
void dft_page_waits(const struct dft_answer *answer, uint64_t top);

#endif
