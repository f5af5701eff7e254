/* SPDX-License-Identifier: MIT */
/* What the head of the page and all shares need. */
#ifndef DFT_SUMMARY_PAGE_ASK_H
#define DFT_SUMMARY_PAGE_ASK_H

#include "summary/page.h"

/* What a section was answered from, for the footer. */
void dft_page_answered(struct dft_page *page, const struct dft_answer *answer, int of_files);
uint64_t dft_page_io_ops(void);
unsigned dft_page_put(struct dft_page *page, struct dft_query_request *requests);
/* Takes their answers. Returns 0 or -ENOMEM. Collective. */
int dft_page_take(struct dft_page *page);
/* May operations be queried? */
int dft_page_has_ops(const struct dft_page *page);
void dft_page_fini(struct dft_page *page);

#endif
