/* SPDX-License-Identifier: MIT */
/* How the files of groups were accessed: which parts, at which distances.
 *
 * A group by file has a row of kind DFT_ROW_FILE beside its call row, with the pattern of all that
 * was counted for it. It goes wherever the rows of groups go: to other threads and ranks, and
 * through the spill file. Its metric `count` says of how many rows the pattern is not known,
 * and `data` how many events are in it, whose distances nobody knows. */
#ifndef DFT_GROUP_PATTERNS_H
#define DFT_GROUP_PATTERNS_H

#include "query/execution.h"

/* A row of a file belongs to the group; `is_known` 0: it does not say which parts were accessed. Return 0 or
 * -ENOMEM. */
int dft_add_row_pattern(struct dft_worker *worker, const struct dft_row *row, uint32_t group, int is_known);
/* The events that the grouper has put in order. */
int dft_add_event_patterns(struct dft_worker *worker, const struct dft_batch *batch);

/* What the answer says, by the group's row of kind DFT_ROW_FILE. */
void dft_take_pattern(struct dft_group *group, const struct dft_row *row);

#endif
