/* SPDX-License-Identifier: MIT */
/* What `dftmerge top` shows: one frame as text. */
#ifndef DFT_TOP_FRAME_H
#define DFT_TOP_FRAME_H

#include <stdio.h>

#include "top/groups.h"

#define DFT_TOP_STUCK_NS UINT64_C(1000000000)
#define DFT_TOP_FILTER   64u

struct dft_top_view {
    const struct dft_top_watch *watch;
    const struct dft_top_groups *groups; /* of the grouping that is shown */
    const struct dft_top_groups *all;    /* by call: its total is that of all */
    enum dft_top_sort sort;
    char filter[DFT_TOP_FILTER];
    const char *title;
    uint64_t interval_ns;
    uint64_t top;           /* lines of the table; 0: as many as there is room for */
    unsigned width, height; /* height 0: no limit */
    uint8_t colour, strong; /* strong: bold and reverse are possible */
    uint8_t utf8, is_typing, is_paused, has_help, is_once;
    uint32_t selected;  /* line of the table */
    const char *stacks; /* lines of calls that are stuck, or NULL */
};

/* Returns 0 or -ENOMEM. */
int dft_top_frame(FILE *out, struct dft_top_view *view);
/* Positions of the calls that are in flight, the most important first: I/O before waiting, then by
 * age. `stuck`: only those for longer than a second, without regions. The caller frees *order. */
int dft_top_flights(const struct dft_top_watch *watch, int stuck, uint32_t **order, size_t *count);
uint64_t dft_top_age_ns(const struct dft_top_watch *watch, const struct dft_top_flight *flight);
int dft_top_is_stuck(const struct dft_top_watch *watch, const struct dft_top_flight *flight);
/* "process 12 (rank 3), thread 12: POSIX read of /a/b for 3.21 s" */
char *dft_top_flight_text(const struct dft_top_watch *watch, const struct dft_top_flight *flight);

#endif
