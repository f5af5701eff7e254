/* SPDX-License-Identifier: MIT */
/* The state of one drain: an encoder, a row table, scratch memory and a stack. There are at most as
 * many contexts as processors. */
#ifndef DFT_CONTEXT_H
#define DFT_CONTEXT_H

#include "aggregator/aggregate.h"
#include "format/ring_decode.h"

#define DFT_STAGING_BYTES (128u << 10)

struct dft_context {
    struct dft_encoder *encoder;
    struct dft_table *table;
    struct dft_ring_decoder decoder;
    struct dft_clock clock; /* of the current drain: one clock converts all its events */
    uint32_t number;
    uint32_t share;   /* 0: capacity for all of the largest ring; 4: for 1/16 */
    size_t bytes;     /* size of the mapping that holds the context */
    uint32_t staged;  /* bytes of whole blocks that wait in staging */
    uint32_t counted; /* events in these blocks */
    uint32_t others;  /* events of vfork children among them */
    int failed;       /* a write of this drain failed */
    int keeps;        /* records of a failed drain stay where readers find them, and are not lost */
    char *staging;    /* DFT_STAGING_BYTES */
    char *stack_top;
};

/* Returns an idle context, or a new one. Where neither exists, the caller waits for the next
 * context that becomes idle. NULL: no memory for even one. Signals stay blocked until release. */
struct dft_context *dft_context_acquire(void);
/* Gives the caller's context capacity for all of the largest ring, where that much can be mapped. A
 * context of either size can drain everything. */
struct dft_context *dft_context_widen(struct dft_context *context);
void dft_context_release(struct dft_context *context);

/* In a forked child. Contexts that other threads of the parent were using are given up. */
void dft_context_forked(void);

#endif
