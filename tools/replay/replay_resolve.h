/* SPDX-License-Identifier: MIT */
/* From an event of the trace to a call to be repeated: which call, on which file, through which handle. Both passes over
 * the trace resolve events in the same way: the first one plans, the second one repeats. */
#ifndef DFT_REPLAY_RESOLVE_H
#define DFT_REPLAY_RESOLVE_H

#include "format/event.h"
#include "format/ops.h"
#include "replay/replay_buffers.h"
#include "replay/replay_calls.h"
#include "replay/replay_files.h"
#include "replay/replay_left.h"
#include "replay/replay_tables.h"

#define DFT_REPLAY_SIZE_MAX (UINT64_C(1) << 40) /* no call moves more: the size is none */

struct dft_replay_resolver {
    const struct dft_names *names;
    struct dft_map calls;
    struct dft_replay_files files;
    struct dft_replay_tables tables;
    struct dft_replay_lefts *lefts; /* NULL: what is left out was counted before */
    uint32_t streams;               /* number of fopen calls so far */
};

/* One call. Each handle that is not NULL comes with a reference for the caller. */
struct dft_replay_take {
    const struct dft_event_at *at;
    enum dft_replay_call call;
    struct dft_replay_file *file, *file2; /* NULL: none */
    struct dft_replay_handle *handle;     /* it works on this one */
    struct dft_replay_handle *made;       /* it makes this one */
    uint8_t lazy;                         /* the opening of `handle` was not recorded */
    uint8_t shared;                       /* it closes a descriptor of several for the same open file */
    uint8_t stands_in;                    /* it moves the bytes of a transfer, such as a half of sendfile */
    uint8_t seeks;                        /* the descriptor is led to the recorded place before */
};

/* Returns 0 or -ENOMEM. The caller calls fini in either case. */
int dft_replay_resolver_init(struct dft_replay_resolver *resolver, struct dft_source *source,
                             const struct dft_filter *filter);
/* Begins the second pass. Returns 0 or -ENOMEM. */
int dft_replay_resolver_restart(struct dft_replay_resolver *resolver, struct dft_source *source,
                                const struct dft_filter *filter);
void dft_replay_resolver_fini(struct dft_replay_resolver *resolver);

/* Returns 1: the call is to be repeated; 0: it is not, or -ENOMEM. */
int dft_replay_resolve(struct dft_replay_resolver *resolver, const struct dft_event_at *at,
                       struct dft_replay_take *take);
void dft_replay_take_fini(struct dft_replay_take *take);

/* Did the recorded call succeed? One whose result is not known counts so. */
static inline int dft_replay_succeeded(const struct dft_event *event)
{
    return !event->err && (event->result >= 0 || event->result == DFT_RESULT_UNKNOWN);
}

/* The bytes that a repeated call on data asks for. A call that failed may have requested more than there is memory or
 * disk, so its size is limited. A write asks for what was moved: it would move all of its size. So does the
 * reading half of a transfer, which may have found more than could be written. */
static inline uint64_t dft_replay_asked(const struct dft_replay_take *take)
{
    const struct dft_event *event = take->at->event;
    uint64_t bytes = dft_event_bytes(event, take->at->op);

    if (take->stands_in)
        return bytes;
    if (!dft_replay_succeeded(event))
        return event->size < DFT_REPLAY_PIECE ? event->size : DFT_REPLAY_PIECE;
    if (dft_op_class(take->at->op) == DFT_CLASS_WRITE && event->result != DFT_RESULT_UNKNOWN)
        return bytes;
    return event->size > DFT_REPLAY_SIZE_MAX || !event->size ? bytes : event->size;
}

/* Does the repeated call move the place of its descriptor? */
static inline int dft_replay_moves_place(const struct dft_replay_take *take)
{
    return dft_op_effect(take->at->op) != DFT_EFFECT_AT && take->call != DFT_REPLAY_pread &&
           take->call != DFT_REPLAY_pwrite;
}

/* Has an fopen the flags of its mode? Those of "r" are 0, as in older traces, which have none: then the mode follows
 * from what is done with the stream. */
static inline int dft_replay_knows_mode(const struct dft_event *event)
{
    return event->flags != 0;
}

#endif
