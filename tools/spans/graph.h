/* SPDX-License-Identifier: MIT */
/* The graph of types of spans: which are subspans of which, and which are facets. */
#ifndef DFT_SPANS_GRAPH_H
#define DFT_SPANS_GRAPH_H

#include <stdio.h>

#include "spans/asked.h"
#include "spans/model.h"

struct dft_spans_node {
    const char *name;
    uint64_t spans;
};

struct dft_spans_link {
    uint32_t from, to; /* nodes; of facets the first one by name is `from` */
    uint32_t is_facet;
    uint64_t count;
};

struct dft_spans_graph {
    struct dft_spans_node *nodes; /* in order of their names */
    size_t nnodes;
    struct dft_spans_link *links; /* in order of from, to; subspans before facets */
    size_t nlinks, capacity;
};

/* Returns 0 or -ENOMEM; the caller calls dft_spans_graph_fini after both. Names are the model's. */
int dft_spans_graph_make(struct dft_spans_graph *graph, const struct dft_spans_model *model);
void dft_spans_graph_fini(struct dft_spans_graph *graph);

struct dft_spans_graph_picture {
    const struct dft_spans_graph *graph;
    const char *title;
};
/* Layers from the top downwards; `picture` is a struct dft_spans_graph_picture, for dft_spans_draw.
 * Returns 0 or -ENOMEM. */
int dft_spans_graph_draw(void *picture, FILE *out);

/* Where a node lies: layer 0 is the topmost, places count from the left. */
struct dft_spans_place {
    uint32_t layer, place;
};
#define DFT_SPANS_NODES_MAX 60u /* nodes of a picture */
/* Finds a layer and a place for each node; at most DFT_SPANS_NODES_MAX nodes. Subspans lie below
 * what they are part of, but where they lead back. */
void dft_spans_layout(const struct dft_spans_graph *graph, struct dft_spans_place *places);

#endif
