/* SPDX-License-Identifier: MIT */
/* Answers that come page by page, and the end of every answer. */
#ifndef DFT_ANSWER_PAGES_H
#define DFT_ANSWER_PAGES_H

#include "query/query_types.h"

struct dft_execution;

/* The first groups in order, when they do not fit at once. The execution is the answer's then.
 * Returns 0 or -errno. Collective. */
int dft_pages_begin(struct dft_execution *execution, const struct dft_order *order, struct dft_answer *answer);
/* The next groups take the place of those before. Returns 1; 0: there are no more (the last ones
 * stay); or -ENOMEM. Collective. */
int dft_answer_next(struct dft_answer *answer);
/* For queries with dft_order.in_parts: no group is available until dft_answer_each. */
int dft_pages_hold(struct dft_execution *execution, struct dft_answer *answer);
/* Calls `take` with one part of the groups after the other (on rank 0; it returns 0 or what ends
 * it). Each group is in one part, and each part is passed once. Returns 0, what `take` returned, or -ENOMEM.
 * Collective. */
int dft_answer_each(struct dft_answer *answer, int (*take)(void *context, const struct dft_answer *answer),
                    void *context);
void dft_answer_fini(struct dft_answer *answer);

#endif
