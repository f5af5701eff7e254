/* SPDX-License-Identifier: MIT */
/* Layers of a graph: the longest way from the top, and neighbours near each other. */
#include <string.h>

#include "base/order.h"
#include "spans/graph.h"

#define SWEEPS 8u

struct layout {
    const struct dft_spans_graph *graph;
    struct dft_spans_place *places;
    unsigned char state[DFT_SPANS_NODES_MAX]; /* 0 new, 1 on the way, 2 done */
    uint32_t order[DFT_SPANS_NODES_MAX];      /* done, the last one first */
    size_t left;
    double middle[DFT_SPANS_NODES_MAX]; /* mean place of neighbours */
};

static int leads_down(const struct dft_spans_link *link)
{
    return !link->is_facet && link->from != link->to;
}

/* Orders the nodes so that links lead forwards, but those of a circle. Recursion is as deep as there
 * are nodes. */
static void visit(struct layout *layout, uint32_t node)
{
    layout->state[node] = 1;
    for (size_t i = 0; i < layout->graph->nlinks; i++) {
        const struct dft_spans_link *link = &layout->graph->links[i];

        if (leads_down(link) && link->from == node && !layout->state[link->to])
            visit(layout, link->to);
    }
    layout->state[node] = 2;
    layout->order[--layout->left] = node;
}

static void find_layers(struct layout *layout)
{
    const struct dft_spans_graph *graph = layout->graph;
    uint32_t place_in_order[DFT_SPANS_NODES_MAX];

    layout->left = graph->nnodes;
    for (uint32_t i = 0; i < graph->nnodes; i++)
        if (!layout->state[i])
            visit(layout, i);
    for (uint32_t i = 0; i < graph->nnodes; i++)
        place_in_order[layout->order[i]] = i;
    for (uint32_t i = 0; i < graph->nnodes; i++) {
        uint32_t node = layout->order[i];

        for (size_t k = 0; k < graph->nlinks; k++) {
            const struct dft_spans_link *link = &graph->links[k];
            uint32_t below = layout->places[node].layer + 1;

            if (leads_down(link) && link->from == node && place_in_order[link->to] > i &&
                layout->places[link->to].layer < below)
                layout->places[link->to].layer = below;
        }
    }
}

/* Numbers the nodes of each layer in the order of their middles; equal ones stay as they were. */
static void number(struct layout *layout)
{
    struct dft_spans_place *places = layout->places;

    for (uint32_t layer = 0; layer < layout->graph->nnodes; layer++) {
        uint32_t nodes[DFT_SPANS_NODES_MAX], count = 0;

        for (uint32_t i = 0; i < layout->graph->nnodes; i++) {
            uint32_t at = count;

            if (places[i].layer != layer)
                continue;
            for (; at > 0 && (layout->middle[nodes[at - 1]] > layout->middle[i] ||
                              (layout->middle[nodes[at - 1]] >= layout->middle[i] &&
                               places[nodes[at - 1]].place > places[i].place));
                 at--)
                nodes[at] = nodes[at - 1];
            nodes[at] = i;
            count++;
        }
        for (uint32_t i = 0; i < count; i++)
            places[nodes[i]].place = i;
    }
}

static void find_middles(struct layout *layout)
{
    const struct dft_spans_place *places = layout->places;

    for (uint32_t i = 0; i < layout->graph->nnodes; i++) {
        double sum = 0, count = 0;

        for (size_t k = 0; k < layout->graph->nlinks; k++) {
            const struct dft_spans_link *link = &layout->graph->links[k];

            if (link->from == link->to || (link->from != i && link->to != i))
                continue;
            sum += places[link->from == i ? link->to : link->from].place;
            count++;
        }
        layout->middle[i] = count > 0 ? sum / count : places[i].place;
    }
}

void dft_spans_layout(const struct dft_spans_graph *graph, struct dft_spans_place *places)
{
    struct layout layout = {.graph = graph, .places = places};

    memset(places, 0, graph->nnodes * sizeof *places);
    find_layers(&layout);
    for (uint32_t i = 0; i < graph->nnodes; i++)
        layout.middle[i] = i;
    number(&layout);
    for (unsigned sweep = 0; sweep < SWEEPS; sweep++) {
        find_middles(&layout);
        number(&layout);
    }
}
