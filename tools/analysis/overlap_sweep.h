/* SPDX-License-Identifier: MIT */
/* Starts and ends of intervals of all processes in order of time, and what follows from them.
 * Nothing of traces. */
#ifndef DFT_OVERLAP_SWEEP_H
#define DFT_OVERLAP_SWEEP_H

#include "sweep/timed.h"
#include "analysis/overlap.h"

/* What a process is in. SCOPE: of a scope, whose number stands in place of the process's. */
enum dft_busy {
    DFT_BUSY_IO,
    DFT_BUSY_COMPUTE,
    DFT_BUSY_DATA,
    DFT_BUSY_ITEM,
    DFT_BUSY_WAIT,
    DFT_BUSY_ALIVE,
    DFT_BUSY_STATES,
    DFT_BUSY_SCOPE = DFT_BUSY_STATES
};
#define DFT_BUSY_STARTS(what) ((uint32_t)(what) << 1)
#define DFT_BUSY_ENDS(what)   ((uint32_t)(what) << 1 | 1u)

struct dft_sweep_lane {
    uint32_t level[DFT_BUSY_STATES];
    uint64_t since;
    uint8_t computes, is_in_io, is_alive;
    uint8_t waits, idles, loads; /* a trainer for data, or for anything; a worker at an item */
};

struct dft_sweep_crew {
    uint32_t computing, in_io, alive, waiting, idling, loading; /* lanes */
    uint64_t since;
};

struct dft_overlap_sweep {
    struct dft_overlap *overlap;
    struct dft_sweep_lane *lanes; /* by position in overlap->processes */
    struct dft_sweep_crew *crews; /* by team */
    uint32_t active, alive;       /* teams */
    uint32_t launching;           /* that live, and launch: nobody is alone beside these */
    uint64_t active_sum;          /* of their numbers: of one alone it is the number */
    uint64_t since;
    struct dft_overlap_span gap, alone; /* that go on; from_ns 0: none does */
};

/* Ready for the processes and teams of `overlap`. Returns 0 or -ENOMEM. */
int dft_overlap_sweep_init(struct dft_overlap_sweep *sweep, struct dft_overlap *overlap);
void dft_overlap_sweep_fini(struct dft_overlap_sweep *sweep);
/* Goes on with a point: `group` is a process (or a scope), `item` what starts or ends. Points come
 * in order of time, those of one time in any order. */
void dft_overlap_sweep_point(struct dft_overlap_sweep *sweep, const struct dft_timed *point);
/* After the last: exposed, idle, sums. */
void dft_overlap_sweep_finish(struct dft_overlap_sweep *sweep);

#endif
