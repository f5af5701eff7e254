/* SPDX-License-Identifier: MIT */
/* What a drain works with: encoder, row table, scratch, a stack. There are at most as many contexts as processors. */
#ifndef DFT_CONTEXT_H
#define DFT_CONTEXT_H

#include "aggregator/aggregate.h"
#include "format/take.h"

#define DFT_STAGING_BYTES (128u << 10)

struct dft_context {
    struct dft_encoder *encoder;
    struct dft_table *table;
    struct dft_take take;
    struct dft_clock clock; /* of the drain under way: all of its events are converted with one */
    uint32_t number;
    uint32_t share;   /* 0: room for all of the largest ring; 4: for 1/16 */
    size_t bytes;     /* of the mapping that it lies in */
    uint32_t staged;  /* bytes of whole blocks that wait in staging */
    uint32_t counted; /* events in them */
    uint32_t others;  /* of these, those of vfork children */
    int failed;       /* a write of this drain did not succeed */
    int keeps;        /* then its records stay where readers find them, and are not lost */
    char *staging;    /* DFT_STAGING_BYTES */
    char *stack_top;
};

/* An idle one, a new one, or after a wait the next that becomes idle; NULL: no memory for even one. Signals blocked until release. */
struct dft_context *dft_context_acquire(void);
/* The caller's, with room for all of the largest ring where that can be mapped; with either all can be drained. */
struct dft_context *dft_context_widen(struct dft_context *context);
void dft_context_release(struct dft_context *context);

/* In a forked child: contexts that were in use by other threads of the parent are given up. */
void dft_context_forked(void);

#endif
