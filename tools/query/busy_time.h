/* SPDX-License-Identifier: MIT */
/* Busy time of time groups. */
#ifndef DFT_BUSY_TIME_H
#define DFT_BUSY_TIME_H

#include "query/execution.h"

/* Time of an event that ends in another interval than it starts in, and of a row that has steps
 * (taken from it); of time groups, whose key is `key` but for the time. Return 0, -errno,
 * DFT_NOT_EXACT. */
int dft_spread_event(struct dft_execution *execution, struct dft_worker *worker, const struct dft_group_key *key,
                     uint8_t op, uint64_t start_ns, uint64_t dur_ns);
int dft_spread_row(struct dft_execution *execution, struct dft_worker *worker, const struct dft_group_key *key,
                   struct dft_row *row, uint64_t start_ns);

#endif
