/* SPDX-License-Identifier: MIT */
/* Counts the events of a batch. */
#ifndef DFT_COUNT_EVENTS_H
#define DFT_COUNT_EVENTS_H

#include "query/execution.h"

int dft_count_events(struct dft_execution *execution, struct dft_worker *worker,
                     const struct dft_source_process *process, const struct dft_block *block, struct dft_batch *batch);

#endif
