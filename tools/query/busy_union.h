/* SPDX-License-Identifier: MIT */
/* How long at least one call of a group was going on. */
#ifndef DFT_BUSY_UNION_H
#define DFT_BUSY_UNION_H

#include "query/execution.h"

/* busy_union_ns of all groups of the answer. Collective. */
int dft_count_union(struct dft_execution *execution, struct dft_answer *answer);

#endif
