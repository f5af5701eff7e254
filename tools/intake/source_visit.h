/* SPDX-License-Identifier: MIT */
/* Visits all blocks in N threads, in no order. */
#ifndef DFT_SOURCE_VISIT_H
#define DFT_SOURCE_VISIT_H

#include "format/counter.h"
#include "object/object.h"

struct dft_batch;

/* Callbacks return 0 to go on. Any other result ends the visit, which returns that result. The
 * visit returns one of them if there are several. */
struct dft_visit {
    void *context;
    /* Should the visit read this block? NULL: every block with state USED or OVERLAPS. Called from
     * one thread. */
    int (*select)(void *context, const struct dft_source_process *process, const struct dft_block *block);
    /* Callbacks by type of block. Blocks of a type without a callback go to `raw`, or are passed
     * over without `raw`. A callback may change the batch in place. */
    int (*events)(void *context, unsigned worker, const struct dft_source_process *process,
                  const struct dft_block *block, struct dft_batch *batch);
    int (*buckets)(void *context, unsigned worker, const struct dft_source_process *process,
                   const struct dft_block *block, struct dft_buckets *buckets);
    int (*counters)(void *context, unsigned worker, const struct dft_source_process *process,
                    const struct dft_block *block, struct dft_counters *counters);
    int (*raw)(void *context, unsigned worker, const struct dft_source_process *process, const struct dft_block *block,
               const struct dft_block_header *header, const void *payload);
    const char *progress; /* "events read", for the progress line; NULL: none */
};
/* Blocks that cannot be read are noted and passed over. Returns 0, -ENOMEM, or what a callback
 * returned. */
int dft_source_visit(struct dft_source *source, const struct dft_visit *visit);

#endif
