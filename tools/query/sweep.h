/* SPDX-License-Identifier: MIT */
/* How many calls of a series are going on at a time, and how long at least one is: a sweep over
 * the starts and ends of its calls. A series is what a group is without its time: its calls are
 * followed from interval to interval. */
#ifndef DFT_QUERY_SWEEP_H
#define DFT_QUERY_SWEEP_H

#include "query/group_map.h"

#define DFT_WALK_MAX                                                                                                   \
    (UINT64_C(1) << 26) /* intervals that are walked in all; not reached but by times that are damaged */

/* Between two windows. All zero at first. */
struct dft_series {
    uint64_t *ends; /* of the calls that are going on, ascending; owned */
    uint32_t count;
    uint64_t interval;  /* the one that it was looked at last */
    uint64_t busy_from; /* since when at least one is going on */
};

struct dft_sweeping {
    struct dft_answer *answer;
    struct dft_group_map map; /* of its groups */
    uint64_t width_ns;        /* of intervals; 0: time is no key */
    uint64_t walked;
};

/* Goes on with a series: `count` calls that start behind all before, their starts and their ends,
 * which both are sorted here. `ends` has room for series->count more, `scratch` for as many. Calls
 * of no time are not among them. Returns 0 or -ENOMEM. */
int dft_series_sweep(struct dft_sweeping *sweeping, const struct dft_group_key *key, struct dft_series *series,
                     uint64_t *starts, uint64_t *ends, size_t count, uint64_t *scratch);
/* What goes on behind the last start. */
void dft_series_finish(struct dft_sweeping *sweeping, const struct dft_group_key *key, struct dft_series *series);

#endif
