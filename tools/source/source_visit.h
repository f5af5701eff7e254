/* SPDX-License-Identifier: MIT */
/* Visits of all blocks in N threads, in no order. */
#ifndef DFT_SOURCE_VISIT_H
#define DFT_SOURCE_VISIT_H

#include "source/source_object.h"

/* Callbacks return 0 to go on; anything else ends the visit, which returns it (one of them, if several). */
struct dft_visit {
    void *context;
    /* Is this block to be read? NULL: every one with state USED or OVERLAPS. Called from one thread. */
    int (*select)(void *context, const struct dft_source_process *process, const struct dft_block *block);
    /* Per type; where it is NULL blocks of that type go to `raw`, or are passed over. The batch may be changed in
     * place. */
    int (*events)(void *context, unsigned worker, const struct dft_source_process *process,
                  const struct dft_block *block, struct dft_batch *batch);
    int (*buckets)(void *context, unsigned worker, const struct dft_source_process *process,
                   const struct dft_block *block, struct dft_buckets *buckets);
    int (*raw)(void *context, unsigned worker, const struct dft_source_process *process, const struct dft_block *block,
               const struct dft_block_header *header, const void *payload);
    const char *progress; /* "events read", for the progress line; NULL: none */
};
/* Blocks that cannot be read are noted and passed over. Returns 0, -ENOMEM, or what a callback returned. */
int dft_source_visit(struct dft_source *source, const struct dft_visit *visit);

#endif
