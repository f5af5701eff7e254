/* SPDX-License-Identifier: MIT */
/* In which states roots are over time: the last event that happened to each. */
#ifndef DFT_SPANS_STATES_H
#define DFT_SPANS_STATES_H

#include "spans/intervals.h"
#include "spans/walk.h"

struct dft_spans_state {
    uint32_t kind;
    uint64_t entered; /* how many times a root came into it */
    __int128 ns;      /* sum over all roots */
    double *means;    /* by interval: how many roots were in it, in the mean */
};

struct dft_spans_states {
    const struct dft_spans_model *model;
    struct dft_spans_intervals intervals;
    struct dft_spans_state *states; /* in order of their first appearance */
    size_t count, roots;            /* roots: those with events */
    double *means;
    /* while they are counted, by state and interval: ns in parts of it, and roots that are in the
     * state for all of it, as a difference to the interval before */
    __int128 *sums;
    int64_t *whole;
};

/* Counts them. Returns 0, -ENOMEM, or DFT_EXIT_USAGE after an error; the caller calls
 * dft_spans_states_fini after all of these. */
int dft_spans_states_make(struct dft_spans_states *states, struct dft_spans_walk *walk,
                          const struct dft_spans_asked *asked);
void dft_spans_states_fini(struct dft_spans_states *states);

struct dft_spans_states_picture {
    const struct dft_spans_states *states;
    const struct dft_spans_asked *asked;
    const char *title;
};
/* Stacked areas; `picture` is a struct dft_spans_states_picture, for dft_spans_draw. Returns 0 or
 * -ENOMEM. */
int dft_spans_states_draw(void *picture, FILE *out);

#endif
