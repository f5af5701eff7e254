/* SPDX-License-Identifier: MIT */
/* Counts edges by types of spans. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "spans/graph.h"

static int by_name(const void *left, const void *right)
{
    const struct dft_spans_type *const *a = left, *const *b = right;

    return strcmp((*a)->name, (*b)->name);
}

static int by_nodes(const void *left, const void *right)
{
    const struct dft_spans_link *a = left, *b = right;

    DFT_ORDER(a->from, b->from);
    DFT_ORDER(a->to, b->to);
    DFT_ORDER(a->is_facet, b->is_facet);
    return 0;
}

/* The nodes, and the node of each type. */
static int make_nodes(struct dft_spans_graph *graph, const struct dft_spans_model *model, uint32_t *node_of)
{
    const struct dft_spans_type **types = malloc((model->ntypes + 1) * sizeof *types);

    graph->nodes = calloc(model->ntypes + 1, sizeof *graph->nodes);
    if (!types || !graph->nodes) {
        free(types);
        return -ENOMEM;
    }
    for (size_t i = 0; i < model->ntypes; i++)
        types[i] = &model->types[i];
    qsort(types, model->ntypes, sizeof *types, by_name);
    for (size_t i = 0; i < model->ntypes; i++) {
        graph->nodes[i] = (struct dft_spans_node){types[i]->name, types[i]->spans};
        node_of[types[i] - model->types] = (uint32_t)i;
    }
    graph->nnodes = model->ntypes;
    free(types);
    return 0;
}

static int count_links(struct dft_spans_graph *graph, const struct dft_spans_model *model, const uint32_t *node_of,
                       struct dft_map *found)
{
    for (size_t i = 0; i < model->nedges; i++) {
        const struct dft_spans_edge *edge = &model->edges[i];
        uint32_t from = node_of[model->spans[edge->from].type], to = node_of[model->spans[edge->to].type];
        int turned = edge->is_facet && from > to;
        struct dft_spans_link link = {turned ? to : from, turned ? from : to, edge->is_facet, 0};
        uint64_t *place = dft_map_put(found, dft_map_join(dft_map_join(link.from, link.to), link.is_facet));

        if (!place || (!*place && DFT_ARRAY_PUSH(graph->links, graph->capacity, graph->nlinks, link)))
            return -ENOMEM;
        if (!*place)
            *place = graph->nlinks;
        graph->links[*place - 1].count++;
    }
    return 0;
}

int dft_spans_graph_make(struct dft_spans_graph *graph, const struct dft_spans_model *model)
{
    uint32_t *node_of = malloc((model->ntypes + 1) * sizeof *node_of);
    struct dft_map found = {0};
    int rc;

    *graph = (struct dft_spans_graph){0};
    rc = node_of ? make_nodes(graph, model, node_of) : -ENOMEM;
    if (!rc)
        rc = count_links(graph, model, node_of, &found);
    if (!rc && graph->nlinks)
        qsort(graph->links, graph->nlinks, sizeof *graph->links, by_nodes);
    dft_map_fini(&found);
    free(node_of);
    return rc;
}

void dft_spans_graph_fini(struct dft_spans_graph *graph)
{
    free(graph->nodes);
    free(graph->links);
}
