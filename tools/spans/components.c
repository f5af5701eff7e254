/* SPDX-License-Identifier: MIT */
/* Finds components as Tarjan does (1972), without recursion. */
#include "spans/components.h"

#include <errno.h>
#include <stdlib.h>

struct search {
    const struct dft_spans_edges *edges;
    uint32_t *component;
    uint32_t *order, *low; /* when a node was met, and the earliest node that it leads back to */
    uint64_t *next;        /* edge to follow next */
    uint32_t *path, *open; /* nodes on the way, and those without a component */
    size_t depth, nopen;
    uint32_t met, components;
};

static void enter(struct search *search, uint32_t node)
{
    search->order[node] = search->low[node] = ++search->met;
    search->next[node] = search->edges->first[node];
    search->path[search->depth++] = node;
    search->open[search->nopen++] = node;
}

/* All edges of the last node on the way were followed. */
static void leave(struct search *search)
{
    uint32_t node = search->path[--search->depth], last;

    if (search->depth) {
        uint32_t *low = &search->low[search->path[search->depth - 1]];

        *low = search->low[node] < *low ? search->low[node] : *low;
    }
    if (search->low[node] != search->order[node])
        return;
    search->components++;
    do {
        last = search->open[--search->nopen];
        search->component[last] = search->components;
    } while (last != node);
}

static void search_from(struct search *search, uint32_t root)
{
    enter(search, root);
    while (search->depth) {
        uint32_t node = search->path[search->depth - 1], to;

        if (search->next[node] == search->edges->first[node + 1]) {
            leave(search);
            continue;
        }
        to = search->edges->to[search->next[node]++];
        if (!search->order[to])
            enter(search, to);
        else if (!search->component[to] && search->order[to] < search->low[node])
            search->low[node] = search->order[to];
    }
}

int dft_spans_components(const struct dft_spans_edges *edges, const uint32_t *roots, size_t nroots, uint32_t *component)
{
    struct search search = {.edges = edges, .component = component};
    int rc = -ENOMEM;

    search.order = calloc(edges->nodes + 1, sizeof *search.order);
    search.low = malloc((edges->nodes + 1) * sizeof *search.low);
    search.next = malloc((edges->nodes + 1) * sizeof *search.next);
    search.path = malloc((edges->nodes + 1) * sizeof *search.path);
    search.open = malloc((edges->nodes + 1) * sizeof *search.open);
    if (search.order && search.low && search.next && search.path && search.open) {
        for (size_t i = 0; i < nroots; i++)
            if (!search.order[roots[i]])
                search_from(&search, roots[i]);
        rc = 0;
    }
    free(search.order);
    free(search.low);
    free(search.next);
    free(search.path);
    free(search.open);
    return rc;
}
