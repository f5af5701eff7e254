/* SPDX-License-Identifier: MIT */
/* Draws the graph of types of spans. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "base/svg.h"
#include "spans/graph.h"
#include "spans/labels.h"

#define LETTERS 36u
#define LETTER  6.8 /* pixels of a letter */
#define HEIGHT  50.0
#define LAYER   120.0 /* from one layer to the next */
#define GAP     50.0
#define EDGE    40.0 /* around all of it */
#define TOP     80.0

struct box {
    char *name;
    uint64_t inside, facets; /* links from the type to itself */
    double x, y, width;      /* the middle of its top */
};

struct drawing {
    struct dft_svg svg;
    const struct dft_spans_graph *graph;
    struct dft_spans_place places[DFT_SPANS_NODES_MAX];
    struct box boxes[DFT_SPANS_NODES_MAX];
    uint32_t layers;
    double width;
};

static int make_boxes(struct drawing *drawing)
{
    const struct dft_spans_graph *graph = drawing->graph;

    for (size_t i = 0; i < graph->nnodes; i++) {
        struct box *box = &drawing->boxes[i];

        box->name = dft_spans_label(graph->nodes[i].name, LETTERS);
        if (!box->name)
            return -ENOMEM;
        box->width = 20 + LETTER * (double)dft_text_columns(box->name);
        box->width = box->width < 110 ? 110 : box->width;
        box->y = TOP + LAYER * drawing->places[i].layer;
        drawing->layers = drawing->places[i].layer >= drawing->layers ? drawing->places[i].layer + 1 : drawing->layers;
    }
    for (size_t i = 0; i < graph->nlinks; i++)
        if (graph->links[i].from == graph->links[i].to)
            *(graph->links[i].is_facet ? &drawing->boxes[graph->links[i].from].facets
                                       : &drawing->boxes[graph->links[i].from].inside) += graph->links[i].count;
    return 0;
}

/* Where the boxes of a layer lie: side by side, in the middle. With `place` NULL, only how wide they
 * are. */
static double layer_width(struct drawing *drawing, uint32_t layer, const double *left)
{
    double at = left ? *left : 0;

    for (uint32_t place = 0; place < drawing->graph->nnodes; place++)
        for (size_t i = 0; i < drawing->graph->nnodes; i++) {
            if (drawing->places[i].layer != layer || drawing->places[i].place != place)
                continue;
            if (left)
                drawing->boxes[i].x = at + drawing->boxes[i].width / 2;
            at += drawing->boxes[i].width + GAP;
        }
    return at - GAP;
}

static void place_boxes(struct drawing *drawing)
{
    for (uint32_t layer = 0; layer < drawing->layers; layer++) {
        double width = layer_width(drawing, layer, NULL) + 2 * EDGE;

        drawing->width = width > drawing->width ? width : drawing->width;
    }
    drawing->width = drawing->width < 300 ? 300 : drawing->width;
    for (uint32_t layer = 0; layer < drawing->layers; layer++) {
        double left = (drawing->width - layer_width(drawing, layer, NULL)) / 2;

        layer_width(drawing, layer, &left);
    }
}

static void put_box(struct drawing *drawing, size_t i)
{
    const struct box *box = &drawing->boxes[i];
    const struct dft_spans_node *node = &drawing->graph->nodes[i];
    char line[128], a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];
    int used = snprintf(line, sizeof line, "%s", dft_text_count(a, node->spans));

    if (box->inside)
        used += snprintf(line + used, sizeof line - (size_t)used, ", %s within", dft_text_count(a, box->inside));
    if (box->facets)
        snprintf(line + used, sizeof line - (size_t)used, ", %s facets within", dft_text_count(b, box->facets));
    fprintf(drawing->svg.out,
            "<g><rect class=\"inside axis\" rx=\"4\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
            "data-spans=\"%llu\"/><title>",
            box->x - box->width / 2, box->y, box->width, HEIGHT, (unsigned long long)node->spans);
    dft_svg_escape(drawing->svg.out, node->name, strlen(node->name));
    fputs("</title>\n", drawing->svg.out);
    dft_svg_text(&drawing->svg, box->x, box->y + 21, "name", "middle", box->name);
    dft_svg_text(&drawing->svg, box->x, box->y + 38, "small", "middle", line);
    fputs("</g>\n", drawing->svg.out);
}

static void put_count(struct drawing *drawing, double x, double y, uint64_t count)
{
    char number[DFT_TEXT_ROOM];

    dft_svg_text(&drawing->svg, x, y, "small over", "middle", dft_text_count(number, count));
}

/* Lines lead from the lower edge of a box to the upper one of a box below it. Those within a layer,
 * and those that lead up, are bows. */
static void put_link(struct drawing *drawing, const struct dft_spans_link *link)
{
    const struct dft_spans_place *places = drawing->places;
    int turned = link->is_facet && places[link->from].layer > places[link->to].layer;
    const struct box *from = &drawing->boxes[turned ? link->to : link->from];
    const struct box *to = &drawing->boxes[turned ? link->from : link->to];
    double y1 = from->y + HEIGHT, y2 = to->y, x1 = from->x, x2 = to->x, xs[2] = {x1, x2}, ys[2];

    if (to->y > from->y) {
        ys[0] = ys[1] = (y1 + y2) / 2;
    } else if (to->y < from->y) { /* upwards: around on the right */
        x1 += from->width / 2;
        x2 += to->width / 2;
        y1 -= HEIGHT / 2;
        y2 += HEIGHT / 2;
        xs[0] = xs[1] = (x1 > x2 ? x1 : x2) + GAP;
        ys[0] = y1;
        ys[1] = y2;
    } else { /* below the layer */
        y2 += HEIGHT;
        ys[0] = ys[1] = y1 + 50;
    }
    fprintf(drawing->svg.out,
            "<path class=\"axis\" fill=\"none\"%s data-kind=\"%s\" data-count=\"%llu\" d=\"M%.1f %.1fC%.1f %.1f %.1f "
            "%.1f %.1f %.1f\"/>\n",
            link->is_facet ? " stroke-dasharray=\"5 4\"" : " marker-end=\"url(#arrow)\"",
            link->is_facet ? "facet" : "subspan", (unsigned long long)link->count, x1, y1, xs[0], ys[0], xs[1], ys[1],
            x2, y2);
    put_count(drawing, (x1 + 3 * xs[0] + 3 * xs[1] + x2) / 8, (y1 + 3 * ys[0] + 3 * ys[1] + y2) / 8 + 4, link->count);
}

static void put_all(struct drawing *drawing, FILE *out, const char *title, const char *foot)
{
    unsigned height = (unsigned)(TOP + LAYER * drawing->layers + 20);

    dft_svg_begin(&drawing->svg, out, (unsigned)drawing->width, height, title);
    dft_svg_sentence(&drawing->svg, "Arrows lead to subspans, dashed lines join facets.");
    fputs("<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" "
          "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n",
          out);
    for (size_t i = 0; i < drawing->graph->nlinks; i++)
        if (drawing->graph->links[i].from != drawing->graph->links[i].to)
            put_link(drawing, &drawing->graph->links[i]);
    for (size_t i = 0; i < drawing->graph->nnodes; i++)
        put_box(drawing, i);
    dft_svg_foot(&drawing->svg, foot);
    dft_svg_end(&drawing->svg);
}

/* --- graphs that are too large ---------------------------------------------------------------- */

/* How many nodes have more spans than this one, or as many and an earlier name. */
static size_t rank_of(const struct dft_spans_graph *graph, size_t node)
{
    size_t rank = 0;

    for (size_t i = 0; i < graph->nnodes; i++)
        rank += graph->nodes[i].spans > graph->nodes[node].spans ||
                (graph->nodes[i].spans == graph->nodes[node].spans && i < node);
    return rank;
}

/* The part with the most spans. Returns 0 or -ENOMEM; dft_spans_graph_fini. */
static int largest_part(struct dft_spans_graph *part, const struct dft_spans_graph *graph)
{
    uint32_t *place = malloc((graph->nnodes + 1) * sizeof *place);

    *part = (struct dft_spans_graph){.nodes = calloc(graph->nnodes + 1, sizeof *part->nodes),
                                     .links = calloc(graph->nlinks + 1, sizeof *part->links)};
    for (size_t i = 0; place && part->nodes && i < graph->nnodes; i++) {
        place[i] = DFT_SPANS_NONE;
        if (rank_of(graph, i) < DFT_SPANS_NODES_MAX) {
            place[i] = (uint32_t)part->nnodes;
            part->nodes[part->nnodes++] = graph->nodes[i];
        }
    }
    for (size_t i = 0; place && part->links && i < graph->nlinks; i++) {
        struct dft_spans_link link = graph->links[i];

        if (place[link.from] == DFT_SPANS_NONE || place[link.to] == DFT_SPANS_NONE)
            continue;
        link.from = place[link.from];
        link.to = place[link.to];
        part->links[part->nlinks++] = link;
    }
    free(place);
    return place && part->nodes && part->links ? 0 : -ENOMEM;
}

int dft_spans_graph_draw(void *context, FILE *out)
{
    const struct dft_spans_graph_picture *picture = context;
    struct drawing *drawing = calloc(1, sizeof *drawing);
    struct dft_spans_graph part;
    char foot[128] = "";
    int rc = drawing ? largest_part(&part, picture->graph) : -ENOMEM;

    if (!drawing)
        return rc;
    drawing->graph = &part;
    if (part.nnodes < picture->graph->nnodes)
        snprintf(foot, sizeof foot, "%zu of %zu types, those with the most spans.", part.nnodes,
                 picture->graph->nnodes);
    if (!rc) {
        dft_spans_layout(&part, drawing->places);
        rc = make_boxes(drawing);
    }
    if (!rc) {
        place_boxes(drawing);
        put_all(drawing, out, picture->title, foot);
    }
    for (size_t i = 0; i < part.nnodes && drawing->boxes[i].name; i++)
        free(drawing->boxes[i].name);
    dft_spans_graph_fini(&part);
    free(drawing);
    return rc;
}
