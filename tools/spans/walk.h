/* SPDX-License-Identifier: MIT */
/* The roots of a type, and the events of each: those of the root, of its subspans downwards and of
 * facets in both directions, as far as these lead. */
#ifndef DFT_SPANS_WALK_H
#define DFT_SPANS_WALK_H

#include "spans/model.h"

struct dft_spans_walk {
    const struct dft_spans_model *model;
    uint32_t *roots; /* in order of their first own event, those without one last; then of uuid */
    size_t nroots;
    /* Roots that lead to each other have the same events. `like`: by root, the first of these;
     * `weights`: how many they are, for that one. */
    uint32_t *like, *weights;
    /* of the root that was walked last: in order of time, then of the name of their kind */
    struct dft_spans_event *events;
    size_t count, capacity;
    /* edges by span, and what was seen in which walk */
    uint64_t *first;
    uint32_t *to, *seen, *stack;
    uint32_t number;
};

/* Finds the roots. Returns 0 or -ENOMEM; the caller calls dft_spans_walk_fini after both. */
int dft_spans_walk_init(struct dft_spans_walk *walk, const struct dft_spans_model *model, uint32_t type);
void dft_spans_walk_fini(struct dft_spans_walk *walk);
/* Collects the events of a root. Returns 0 or -ENOMEM. */
int dft_spans_walk_root(struct dft_spans_walk *walk, size_t root);

#endif
