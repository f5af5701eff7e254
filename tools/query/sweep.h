/* SPDX-License-Identifier: MIT */
/* How many calls of a series are going on at a time, and how long at least one is, into the groups of an answer. A
 * series is what a group is without its time: its calls are followed from interval to interval. */
#ifndef DFT_QUERY_SWEEP_H
#define DFT_QUERY_SWEEP_H

#include "query/group_map.h"
#include "sweep/levels.h"

#define DFT_WALK_MAX                                                                                                   \
    (UINT64_C(1) << 26) /* intervals that are walked in all; not reached but by times that are damaged */

struct dft_sweeping {
    struct dft_answer *answer;
    struct dft_group_map map; /* of its groups */
    struct dft_levels_visit visit;
};

/* width_ns: of intervals; 0: time is no key. */
void dft_sweeping_init(struct dft_sweeping *sweeping, struct dft_answer *answer, uint64_t width_ns);
/* Goes on with a series, as dft_levels_sweep does. */
int dft_series_sweep(struct dft_sweeping *sweeping, const struct dft_group_key *key, struct dft_levels *series,
                     uint64_t *starts, uint64_t *ends, size_t count, uint64_t *scratch);
/* What goes on behind the last start. */
void dft_series_finish(struct dft_sweeping *sweeping, const struct dft_group_key *key, struct dft_levels *series);

#endif
