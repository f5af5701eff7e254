/* SPDX-License-Identifier: MIT */
/* Which events are requested (all filters but those of processes). */
#ifndef DFT_RANKS_FILTER_H
#define DFT_RANKS_FILTER_H

#include "ranks/ranks_job.h"

/* Does what a worker has met pass the filter? `shift` aligns its times; of rows that --from or --to
 * cut the whole counts. */
int dft_ranks_passes_event(struct dft_ranks_job *job, unsigned worker, const struct dft_event *event,
                           const struct dft_call *call, int64_t shift);
int dft_ranks_passes_row(struct dft_ranks_job *job, unsigned worker, const struct dft_row *row, uint64_t interval_ns,
                         int64_t shift);
int dft_ranks_passes_block(const struct dft_ranks_job *job, const struct dft_block *block);
void dft_ranks_filter_note(const struct dft_ranks_job *job); /* what the filter could not distinguish */
void dft_ranks_filter_fini(struct dft_ranks_job *job);

#endif
