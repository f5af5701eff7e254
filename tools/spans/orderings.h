/* SPDX-License-Identifier: MIT */
/* The different orderings of the events of roots, and the times of the most common one. */
#ifndef DFT_SPANS_ORDERINGS_H
#define DFT_SPANS_ORDERINGS_H

#include "base/write_json.h"
#include "spans/walk.h"

struct dft_spans_ordering {
    size_t kinds, length; /* place and number of its events */
    uint64_t roots;
};

/* Times of one event of the most common ordering: sums over its roots, in seconds as doubles have
 * them, and exact. */
struct dft_spans_step {
    double since_first, since_before, least, most;
    __int128 since_first_ns, since_before_ns;
    uint64_t least_ns, most_ns;
};

struct dft_spans_orderings {
    struct dft_spans_ordering *all; /* in the order of their first root */
    size_t count, capacity;
    const struct dft_spans_ordering **ordered; /* the most common one first; else as in `all` */
    uint32_t *kinds;                           /* the events of all orderings */
    size_t nkinds, kinds_capacity;
    uint32_t *of; /* by root: which ordering; DFT_SPANS_NONE: without events, or like another root */
    struct dft_map found;
    uint64_t empty; /* roots without events */
    struct dft_spans_step *steps;
};

/* Returns 0 or -ENOMEM; the caller calls dft_spans_orderings_fini after both. */
int dft_spans_orderings_make(struct dft_spans_orderings *orderings, struct dft_spans_walk *walk);
void dft_spans_orderings_fini(struct dft_spans_orderings *orderings);
/* Puts the member "most_common": the first `top` events of the most common ordering. */
void dft_spans_steps_json(struct dft_json *json, const struct dft_spans_model *model,
                          const struct dft_spans_orderings *orderings, size_t top);

#endif
