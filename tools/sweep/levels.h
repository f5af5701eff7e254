/* SPDX-License-Identifier: MIT */
/* How many intervals of one kind go on at a time, and while at least one does: a sweep over their starts and ends.
 *
 * Intervals come in windows of time, each behind the one before. Which end belongs to which start does not matter for
 * how many go on: both are sorted by themselves. At the same instant ends come first. */
#ifndef DFT_SWEEP_LEVELS_H
#define DFT_SWEEP_LEVELS_H

#include <stddef.h>
#include <stdint.h>

/* Between two windows. All zero at first. */
struct dft_levels {
    uint64_t *ends; /* of the intervals that go on, ascending; owned */
    uint32_t count;
    uint64_t part;      /* of time: the one that was looked at last */
    uint64_t busy_from; /* since when at least one goes on */
};

/* What is called as the sweep goes on. */
struct dft_levels_visit {
    uint64_t width_ns; /* of the parts that time is cut into; 0: it is not cut */
    uint64_t walked,
        walk_most; /* parts that were walked so far, and at most: not reached but by times that are damaged */
    /* So many go on in a part: after each start, and where a part begins while some go on. */
    void (*level)(void *context, uint64_t part, size_t level);
    /* At least one went on in [from, to), of which no other call says. */
    void (*busy)(void *context, uint64_t from, uint64_t to);
    void *context;
};

/* Goes on with `count` intervals that start behind all before: their starts and their ends, which both are sorted here.
 * `ends` has room for levels->count more, `scratch` for as many as `count`. Intervals of no time are not among them.
 * Returns 0 or -ENOMEM. */
int dft_levels_sweep(struct dft_levels *levels, struct dft_levels_visit *visit, uint64_t *starts, uint64_t *ends,
                     size_t count, uint64_t *scratch);
/* What goes on behind the last start. */
void dft_levels_finish(struct dft_levels *levels, struct dft_levels_visit *visit);

#endif
