/* SPDX-License-Identifier: MIT */
/* Which slices are merged: decides for each slice, at each of several levels of detail at once.
 *
 * A lane is a thread, the requests of a thread, or a counter. Each level has a least duration.
 * Slices that last so long are kept. Shorter ones join a run of their lane. A run ends where a slice
 * that is kept begins or ends, and where nothing happens for the least duration. So a run lies in
 * one enclosing slice, and never partly overlaps a slice that is kept. What a short slice encloses
 * joins the same run. */
#ifndef DFT_EXPORT_LANES_H
#define DFT_EXPORT_LANES_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

#define DFT_LEVELS_MAX 96u

enum dft_lane_kind {
    DFT_LANE_SLICES,
    DFT_LANE_REQUESTS, /* may overlap: what is kept does not end a run */
    DFT_LANE_SAMPLES,  /* kept when the one that was kept before is old enough, else left out */
    DFT_LANE_KINDS
};

/* Begins what a user keeps for a run; all zero where there is no run. */
struct dft_run {
    uint64_t end_ns;
    uint64_t slices; /* 0: there is no run */
};

/* Callbacks return 0 or -errno. */
struct dft_lanes {
    const uint64_t *least_ns; /* by level, ascending */
    unsigned first, count;    /* levels [first, count) are decided about */
    size_t run_bytes;         /* size of what begins with struct dft_run */
    void *context;
    int (*keep)(void *context, unsigned level);
    int (*leave_out)(void *context, unsigned level);
    /* before run->slices and run->end_ns count the slice */
    int (*join)(void *context, unsigned level, struct dft_run *run);
    /* the run is zero afterwards */
    int (*end)(void *context, unsigned level, enum dft_lane_kind kind, struct dft_run *run);
    struct dft_map numbers[DFT_LANE_KINDS]; /* key of a lane -> position + 1 */
    struct dft_lane *list;
    size_t nlanes, capacity;
};

/* Decides about a slice. Slices of a lane come in order of start, enclosing ones first. `key` is not
 * 0. Returns 0, -ENOMEM, or what a callback returned. */
int dft_lanes_put(struct dft_lanes *lanes, enum dft_lane_kind kind, uint64_t key, uint64_t start_ns, uint64_t dur_ns);
/* Ends the runs of a thread: a slice begins or ends here that is not put. */
int dft_lanes_cut(struct dft_lanes *lanes, uint64_t key);
/* The run of a thread at a level, or NULL. */
struct dft_run *dft_lanes_run(const struct dft_lanes *lanes, uint64_t key, unsigned level);
/* Ends all runs. Lanes are as new afterwards. */
int dft_lanes_finish(struct dft_lanes *lanes);
/* Gives all runs at level 0, of a user that has no other level. */
void dft_lanes_each(const struct dft_lanes *lanes, void (*give)(struct dft_run *run));
/* Frees memory, and ends no run. */
void dft_lanes_fini(struct dft_lanes *lanes);

#endif
