/* SPDX-License-Identifier: MIT */
/* Walks from roots along subspans and facets. */
#include "spans/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "spans/components.h"

/* Edges by the span that they lead away from; facets lead both ways. */
static int index_edges(struct dft_spans_walk *walk)
{
    const struct dft_spans_model *model = walk->model;
    uint64_t *next = calloc(model->nspans + 1, sizeof *next), total = 0;

    walk->first = calloc(model->nspans + 1, sizeof *walk->first);
    walk->to = malloc((2 * model->nedges + 1) * sizeof *walk->to);
    if (!next || !walk->first || !walk->to) {
        free(next);
        return -ENOMEM;
    }
    for (size_t i = 0; i < model->nedges; i++) {
        walk->first[model->edges[i].from]++;
        walk->first[model->edges[i].to] += model->edges[i].is_facet;
    }
    for (size_t i = 0; i <= model->nspans; i++) {
        uint64_t count = walk->first[i];

        walk->first[i] = next[i] = total;
        total += count;
    }
    for (size_t i = 0; i < model->nedges; i++) {
        const struct dft_spans_edge *edge = &model->edges[i];

        walk->to[next[edge->from]++] = edge->to;
        if (edge->is_facet)
            walk->to[next[edge->to]++] = edge->from;
    }
    free(next);
    return 0;
}

struct root {
    int64_t ns;
    const char *uuid;
    uint32_t length, span;
};

static int by_time(const void *left, const void *right)
{
    const struct root *a = left, *b = right;
    int order;

    DFT_ORDER(a->ns, b->ns);
    order = memcmp(a->uuid, b->uuid, a->length < b->length ? a->length : b->length);
    if (order)
        return order;
    DFT_ORDER(a->length, b->length);
    return 0;
}

static int find_roots(struct dft_spans_walk *walk, uint32_t type)
{
    const struct dft_spans_model *model = walk->model;
    struct root *roots = malloc((model->types[type].spans + 1) * sizeof *roots);

    walk->roots = malloc((model->types[type].spans + 1) * sizeof *walk->roots);
    if (!roots || !walk->roots) {
        free(roots);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < model->nspans; i++) {
        const struct dft_spans_span *span = &model->spans[i];
        struct root *root = &roots[walk->nroots];

        if (span->type != type)
            continue;
        *root = (struct root){INT64_MAX, model->uuids + span->uuid, span->length, i};
        for (uint64_t at = model->first_event[i]; at < model->first_event[i + 1]; at++)
            root->ns = model->events[at].ns < root->ns ? model->events[at].ns : root->ns;
        walk->nroots++;
    }
    qsort(roots, walk->nroots, sizeof *roots, by_time);
    for (size_t i = 0; i < walk->nroots; i++)
        walk->roots[i] = roots[i].span;
    free(roots);
    return 0;
}

static int find_alike(struct dft_spans_walk *walk)
{
    const struct dft_spans_edges edges = {walk->model->nspans, walk->first, walk->to};
    uint32_t *component = calloc(edges.nodes + 1, sizeof *component);
    uint32_t *first_of = calloc(edges.nodes + 1, sizeof *first_of); /* root + 1 */
    int rc = component && first_of ? dft_spans_components(&edges, walk->roots, walk->nroots, component) : -ENOMEM;

    walk->like = malloc((walk->nroots + 1) * sizeof *walk->like);
    walk->weights = calloc(walk->nroots + 1, sizeof *walk->weights);
    if (!walk->like || !walk->weights)
        rc = -ENOMEM;
    for (size_t i = 0; !rc && i < walk->nroots; i++) {
        uint32_t *first = &first_of[component[walk->roots[i]]];

        *first = *first ? *first : (uint32_t)i + 1;
        walk->like[i] = *first - 1;
        walk->weights[walk->like[i]]++;
    }
    free(component);
    free(first_of);
    return rc;
}

int dft_spans_walk_init(struct dft_spans_walk *walk, const struct dft_spans_model *model, uint32_t type)
{
    *walk = (struct dft_spans_walk){.model = model};
    walk->seen = calloc(model->nspans + 1, sizeof *walk->seen);
    walk->stack = malloc((model->nspans + 1) * sizeof *walk->stack);
    return !walk->seen || !walk->stack || index_edges(walk) || find_roots(walk, type) || find_alike(walk) ? -ENOMEM : 0;
}

void dft_spans_walk_fini(struct dft_spans_walk *walk)
{
    free(walk->roots);
    free(walk->like);
    free(walk->weights);
    free(walk->events);
    free(walk->first);
    free(walk->to);
    free(walk->seen);
    free(walk->stack);
}

static int by_moment(const void *left, const void *right)
{
    const struct dft_spans_event *a = left, *b = right;

    DFT_ORDER(a->ns, b->ns);
    DFT_ORDER(a->kind, b->kind);
    DFT_ORDER(a->span, b->span);
    return 0;
}

int dft_spans_walk_root(struct dft_spans_walk *walk, size_t root)
{
    const struct dft_spans_model *model = walk->model;
    size_t depth = 1;

    if (!++walk->number) { /* all numbers were used */
        memset(walk->seen, 0, model->nspans * sizeof *walk->seen);
        walk->number = 1;
    }
    walk->count = 0;
    walk->stack[0] = walk->roots[root];
    walk->seen[walk->roots[root]] = walk->number;
    while (depth) {
        uint32_t span = walk->stack[--depth];
        size_t events = model->first_event[span + 1] - model->first_event[span];

        if (DFT_ARRAY_RESERVE(walk->events, walk->capacity, walk->count + events))
            return -ENOMEM;
        if (events)
            memcpy(walk->events + walk->count, model->events + model->first_event[span], events * sizeof *walk->events);
        walk->count += events;
        for (uint64_t i = walk->first[span]; i < walk->first[span + 1]; i++)
            if (walk->seen[walk->to[i]] != walk->number) {
                walk->seen[walk->to[i]] = walk->number;
                walk->stack[depth++] = walk->to[i];
            }
    }
    if (walk->count)
        qsort(walk->events, walk->count, sizeof *walk->events, by_moment);
    return 0;
}
