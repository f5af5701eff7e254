/* SPDX-License-Identifier: MIT */
/* The plan of a replay, from one pass over the trace: which files must be there at the start, which threads repeat how
 * many calls, how streams were opened, and what is left out. */
#ifndef DFT_REPLAY_PLAN_H
#define DFT_REPLAY_PLAN_H

#include "replay/replay_resolve.h"
#include "replay/replay_tally.h"

/* What calls on a stream show: fopen's mode is not recorded. */
#define DFT_STREAM_READ        1u
#define DFT_STREAM_WRITTEN     2u
#define DFT_STREAM_WRITE_FIRST 4u  /* the first call that moved data wrote */
#define DFT_STREAM_APPENDS     8u  /* ... at a place that was not known: the end */
#define DFT_STREAM_INSIDE      16u /* ... elsewhere than at the beginning */
#define DFT_STREAM_KNOWN       32u /* the mode was recorded */

struct dft_replay_plan {
    struct dft_replay_resolver resolver;
    struct dft_replay_lefts lefts;
    struct dft_map threads; /* of process and tid: how many calls */
    uint8_t *streams;       /* by number of the fopen */
    size_t streams_capacity;
    struct dft_replay_tallies recorded;
    uint64_t kinds[DFT_REPLAY_CALLS];
    uint64_t processes, events, first_ns, last_ns; /* of the calls that are repeated */
    uint64_t files, folders, start_bytes;          /* to be made before the start */
    uint64_t need_bytes, need_inodes;              /* at most, at any time */
};

/* Returns 0 or -ENOMEM. The caller calls fini in either case. */
int dft_replay_plan_make(struct dft_replay_plan *plan, struct dft_source *source, const struct dft_filter *filter);
void dft_replay_plan_fini(struct dft_replay_plan *plan);

static inline uint64_t dft_replay_thread_key(const struct dft_event_at *at)
{
    return dft_map_join(at->process->key, at->tid);
}

/* What a call that succeeded did to the existence of its files. */
void dft_replay_plan_exist(const struct dft_replay_take *take);

#endif
