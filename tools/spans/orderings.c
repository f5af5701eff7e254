/* SPDX-License-Identifier: MIT */
/* Counts orderings, and the times of the most common one. */
#include "spans/orderings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "spans/moment.h"

static int is_same(const struct dft_spans_orderings *orderings, uint64_t number, const struct dft_spans_walk *walk)
{
    const struct dft_spans_ordering *ordering = &orderings->all[number];

    if (ordering->length != walk->count)
        return 0;
    for (size_t i = 0; i < walk->count; i++)
        if (orderings->kinds[ordering->kinds + i] != walk->events[i].kind)
            return 0;
    return 1;
}

/* The place of the ordering that was walked, in the map; its value is 0 when it is new. */
static uint64_t *find(struct dft_spans_orderings *orderings, const struct dft_spans_walk *walk)
{
    uint64_t key = walk->count, *place;

    for (size_t i = 0; i < walk->count; i++)
        key = dft_map_join(key, walk->events[i].kind);
    while ((place = dft_map_put(&orderings->found, key)) && *place && !is_same(orderings, *place - 1, walk))
        key = dft_map_join(key, 1);
    return place;
}

static int add(struct dft_spans_orderings *orderings, const struct dft_spans_walk *walk, uint32_t weight, uint32_t *of)
{
    struct dft_spans_ordering ordering = {orderings->nkinds, walk->count, 0};
    uint64_t *place = find(orderings, walk);

    if (!place)
        return -ENOMEM;
    if (!*place) {
        if (DFT_ARRAY_RESERVE(orderings->kinds, orderings->kinds_capacity, orderings->nkinds + walk->count) ||
            DFT_ARRAY_PUSH(orderings->all, orderings->capacity, orderings->count, ordering))
            return -ENOMEM;
        for (size_t i = 0; i < walk->count; i++)
            orderings->kinds[orderings->nkinds++] = walk->events[i].kind;
        *place = orderings->count;
    }
    *of = (uint32_t)(*place - 1);
    orderings->all[*of].roots += weight;
    return 0;
}

static int by_roots(const void *left, const void *right)
{
    const struct dft_spans_ordering *a = *(const struct dft_spans_ordering *const *)left,
                                    *b = *(const struct dft_spans_ordering *const *)right;

    DFT_ORDER(b->roots, a->roots);
    DFT_ORDER(a, b); /* of one array: the first in order of root time */
    return 0;
}

/* Adds the times of a root, and of those like it, to those of the most common ordering. */
static void add_times(struct dft_spans_orderings *orderings, const struct dft_spans_walk *walk, uint32_t weight,
                      int is_first)
{
    double first = dft_spans_moment_double(walk->events[0].ns), before = first;

    for (size_t i = 0; i < walk->count; i++) {
        struct dft_spans_step *step = &orderings->steps[i];
        int64_t ns = walk->events[i].ns;
        uint64_t since_ns = i ? (uint64_t)(ns - walk->events[i - 1].ns) : 0;
        double now = i ? dft_spans_moment_double(ns) : first, since = now - before;

        step->since_first += weight * (now - first);
        step->since_before += weight * since;
        step->least = is_first || since < step->least ? since : step->least;
        step->most = is_first || since > step->most ? since : step->most;
        step->since_first_ns += (__int128)weight * (ns - walk->events[0].ns);
        step->since_before_ns += (__int128)weight * since_ns;
        step->least_ns = is_first || since_ns < step->least_ns ? since_ns : step->least_ns;
        step->most_ns = is_first || since_ns > step->most_ns ? since_ns : step->most_ns;
        before = now;
    }
}

static int time_most_common(struct dft_spans_orderings *orderings, struct dft_spans_walk *walk)
{
    const struct dft_spans_ordering *most = orderings->ordered[0];
    int rc = 0, is_first = 1;

    orderings->steps = calloc(most->length + 1, sizeof *orderings->steps);
    if (!orderings->steps)
        return -ENOMEM;
    for (size_t i = 0; !rc && i < walk->nroots; i++) {
        if (orderings->of[i] == DFT_SPANS_NONE || &orderings->all[orderings->of[i]] != most)
            continue;
        rc = dft_spans_walk_root(walk, i);
        if (!rc)
            add_times(orderings, walk, walk->weights[i], is_first);
        is_first = 0;
    }
    return rc;
}

int dft_spans_orderings_make(struct dft_spans_orderings *orderings, struct dft_spans_walk *walk)
{
    int rc = 0;

    *orderings = (struct dft_spans_orderings){0};
    orderings->of = malloc((walk->nroots + 1) * sizeof *orderings->of);
    if (!orderings->of)
        return -ENOMEM;
    for (size_t i = 0; !rc && i < walk->nroots; i++) {
        orderings->of[i] = DFT_SPANS_NONE;
        if (!walk->weights[i])
            continue;
        rc = dft_spans_walk_root(walk, i);
        if (!rc && !walk->count)
            orderings->empty += walk->weights[i];
        else if (!rc)
            rc = add(orderings, walk, walk->weights[i], &orderings->of[i]);
    }
    orderings->ordered = malloc((orderings->count + 1) * sizeof *orderings->ordered);
    if (rc || !orderings->ordered)
        return -ENOMEM;
    for (size_t i = 0; i < orderings->count; i++)
        orderings->ordered[i] = &orderings->all[i];
    qsort(orderings->ordered, orderings->count, sizeof *orderings->ordered, by_roots);
    return orderings->count ? time_most_common(orderings, walk) : 0;
}

void dft_spans_orderings_fini(struct dft_spans_orderings *orderings)
{
    dft_map_fini(&orderings->found);
    free(orderings->all);
    free(orderings->ordered);
    free(orderings->kinds);
    free(orderings->of);
    free(orderings->steps);
}
