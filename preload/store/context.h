/* SPDX-License-Identifier: MIT */
/* The state of one drain: an encoder, a row table, scratch memory and a stack. There are at most as
 * many contexts as processors. */
#ifndef DFT_CONTEXT_H
#define DFT_CONTEXT_H

#include "aggregator/aggregate.h"
#include "format/live_table.h"
#include "format/slot_encoder.h"
#include "format/ring_decode.h"

#define DFT_STAGING_BYTES (128u << 10)
#define DFT_ROWS_TEXT     (16u << 10)
#define DFT_ROWS_NAMES    256u

/* Rows that wait in a context's table. They are of events whose blocks are in the file or on their
 * way, without a gap: a process that is killed loses no event with them. */
struct dft_context_rows {
    int are_there;
    int are_full; /* no other event may be added */
    uint32_t blocks;
    uint64_t key, first, last;
    uint32_t stream, tid;
    struct dft_name *names; /* of their regions and functions */
    uint32_t nnames, text_used;
    char *text;
};

struct dft_context {
    struct dft_encoder *encoder;
    struct dft_table *table;
    struct dft_ring_decoder decoder;
    struct dft_events_encoder events; /* the block that is being made */
    struct dft_slot_call *calls;      /* of the decoder's calls, behind one that is of none */
    uint32_t calls_ready;             /* so many are ready for this block */
    struct dft_context_rows rows;
    struct dft_live_rows live_rows; /* dft_context_live_rows */
    struct dft_clock clock;         /* of the current drain: one clock converts all its events */
    struct dft_near_clock near;     /* the same around the last events */
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

/* No call is ready: another block begins. */
static inline void dft_context_begin_calls(struct dft_context *context)
{
    for (uint32_t i = 0; i < context->calls_ready; i++)
        context->calls[1 + i].kind = 0;
    context->calls_ready = 0;
}

/* Forgets the rows that wait, and the calls that they are of. */
static inline void dft_context_drop_rows(struct dft_context *context)
{
    dft_table_clear(context->table);
    dft_ring_decoder_forget(&context->decoder);
    dft_context_begin_calls(context);
    context->rows.are_there = context->rows.are_full = 0;
    context->rows.blocks = context->rows.nnames = context->rows.text_used = 0;
}

/* Returns an idle context, or a new one. Where neither exists, the caller waits for the next
 * context that becomes idle. NULL: no memory for even one. Signals stay blocked until release. */
struct dft_context *dft_context_acquire(void);
/* Gives the caller's context capacity for all of the largest ring, where that much can be mapped. A
 * context of either size can drain everything. No rows are in it. */
struct dft_context *dft_context_widen(struct dft_context *context);
void dft_context_release(struct dft_context *context);
/* Gives the context memory for the rows of one table of a live file. Returns 0 or -ENOMEM. */
int dft_context_live_rows(struct dft_context *context);

/* Visits each context, on its stack, where nobody else uses it. Waits some milliseconds for those in
 * use. Signals blocked. */
void dft_context_visit(void (*visit)(void *context));

/* In a forked child. Contexts that other threads of the parent were using are given up. */
void dft_context_forked(void);

#endif
