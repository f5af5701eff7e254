/* SPDX-License-Identifier: MIT */
/* What was counted becomes groups of the answer. */
#ifndef DFT_ANSWER_GROUPS_H
#define DFT_ANSWER_GROUPS_H

#include "query/execution.h"

/* What was counted, on rank 0, into groups of the answer, behind those that are there; nothing is
 * left of it. */
int dft_query_finish(struct dft_execution *execution, struct dft_answer *answer);

#endif
