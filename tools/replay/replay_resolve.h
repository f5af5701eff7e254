/* SPDX-License-Identifier: MIT */
/* From an event of the trace to a call to be repeated: which call, on which file, through which handle. Both passes over
 * the trace resolve events in the same way: the first one plans, the second one repeats. */
#ifndef DFT_REPLAY_RESOLVE_H
#define DFT_REPLAY_RESOLVE_H

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

/* The bytes that a repeated call on data asks for. What a call that failed asked for may be more than there is memory or
 * disk, so that of it is limited. */
static inline uint64_t dft_replay_asked(uint64_t size, uint64_t bytes, int succeeded)
{
    if (!succeeded)
        return size < DFT_REPLAY_PIECE ? size : DFT_REPLAY_PIECE;
    return size > DFT_REPLAY_SIZE_MAX || !size ? bytes : size;
}

/* Did the recorded call succeed? One whose result is not known counts so. */
static inline int dft_replay_succeeded(const struct dft_event *event)
{
    return !event->err && (event->result >= 0 || event->result == DFT_RESULT_UNKNOWN);
}

/* Has an fopen the flags of its mode? In older traces it has none, and no permissions either. */
static inline int dft_replay_knows_mode(const struct dft_event *event)
{
    return event->mode != 0;
}

#endif
