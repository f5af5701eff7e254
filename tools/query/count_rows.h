/* SPDX-License-Identifier: MIT */
/* Counts the rows of a block. */
#ifndef DFT_COUNT_ROWS_H
#define DFT_COUNT_ROWS_H

#include "query/execution.h"

int dft_count_rows(struct dft_execution *execution, struct dft_worker *worker, const struct dft_source_process *process,
                   const struct dft_block *block, const struct dft_buckets *buckets);

#endif
