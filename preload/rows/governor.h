/* SPDX-License-Identifier: MIT */
/* The decision between events and aggregates by what tracing costs (DFTRACER_MAX_OVERHEAD_PERCENT). A
 * pure function of what is measured: nothing here reads a clock.
 *
 * A window is at least a second long, and holds at least 10 ms of processor time: otherwise it goes
 * on. The share of a window is the library's own time by the processor time of the program alone. */
#ifndef DFT_GOVERNOR_H
#define DFT_GOVERNOR_H

#include <stdint.h>

#define DFT_GOVERNOR_WINDOW_NS 1000000000u

/* All since the process began. */
struct dft_governor_now {
    uint64_t time_ns;  /* monotonic */
    uint64_t cpu_ns;   /* processor time of the process, the library's included */
    uint64_t drain_ns; /* processor time, too, of it: writing out events and rows */
    uint64_t calls;    /* recorded calls, as events or in aggregates */
};

struct dft_governor {
    uint64_t call_ns; /* set by the user: what a call takes beside drains */
    /* from here on all zeros at first */
    int is_begun;
    int aggregates;    /* the decision */
    uint64_t event_ps; /* what a call cost that was kept as event, in 1/1000 ns; 0: not known */
    uint64_t last_ppm; /* share of the last window, in millionths */
    struct dft_governor_now last;
};

/* Returns 1 when the decision has changed. limit_percent: 1 ... 100. */
int dft_governor_decide(struct dft_governor *governor, const struct dft_governor_now *now, unsigned limit_percent);

#endif
