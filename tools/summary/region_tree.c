/* SPDX-License-Identifier: MIT */
/* Puts regions into a tree by what each call says of the innermost region around it. */
#include "summary/region_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/plot.h"
#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "format/facets.h"
#include "format/hash.h"
#include "format/ops.h"
#include "mpi/comm.h"
#include "query/answer.h"
#include "query/answer_pages.h"
#include "query/query.h"

#define DFT_REGION_TREE 1024u /* calls in regions, those with the most time */
#define ROOTS_MAX       5u
#define INSIDE_MAX      5u /* of one region */
#define DEPTH_MAX       8u
#define CELLS           10u
#define LABEL_MAX       160u

/* Calls of one name directly inside of one region. */
struct edge {
    uint64_t id, parent; /* of the region that these calls are (0: they are none), and of the one around them */
    const struct dft_group *group;
    int shown; /* what is inside stands at the first place */
};

struct tree {
    const struct dft_answer *answer;
    struct dft_grid *grid;
    struct edge edges[DFT_REGION_TREE];
    unsigned count;
    uint64_t max_ns;
};

/* The id of a region: that of its category and name, with a zero byte between them. */
static uint64_t region_id(const struct dft_answer *answer, const struct dft_group *group)
{
    struct dft_key_value cat, name;
    char text[1024];

    dft_group_value(answer, group, DFT_BY_CAT, &cat);
    dft_group_value(answer, group, DFT_BY_NAME, &name);
    if (cat.type != DFT_KEY_TEXT || name.type != DFT_KEY_TEXT ||
        (size_t)cat.text.length + name.text.length >= sizeof text)
        return 0;
    memcpy(text, cat.text.bytes, cat.text.length);
    text[cat.text.length] = '\0';
    memcpy(text + cat.text.length + 1, name.text.bytes, name.text.length);
    return dft_name_id(text, cat.text.length + 1 + name.text.length);
}

static void add_edges(struct tree *tree)
{
    for (uint32_t i = 0; i < tree->answer->count && tree->count < DFT_REGION_TREE; i++) {
        const struct dft_group *group = &tree->answer->groups[i];
        const int is_region = group->key.op == DFT_OP_REGION;

        if (is_region || group->key.region)
            tree->edges[tree->count++] = (struct edge){
                .id = is_region ? region_id(tree->answer, group) : 0, .parent = group->key.region, .group = group};
    }
}

static int is_nested(const struct tree *tree)
{
    for (unsigned i = 0; i < tree->count; i++)
        if (tree->edges[i].id && tree->edges[i].parent)
            return 1;
    return 0;
}

static int put_line(struct tree *tree, const struct edge *edge, unsigned depth)
{
    const struct dft_metrics *metrics = &edge->group->metrics;
    struct dft_key_value name;
    char label[LABEL_MAX], cell[64];
    char *text;
    int rc;

    dft_group_value(tree->answer, edge->group, DFT_BY_NAME, &name);
    text = dft_text_escaped(name.text.bytes, name.type == DFT_KEY_TEXT ? name.text.length : 0);
    if (!text)
        return -ENOMEM;
    snprintf(label, sizeof label, "%*s%s", (int)(2 * depth), "", text);
    free(text);
    rc =
        dft_grid_cell(tree->grid, label) || dft_grid_cell(tree->grid, dft_text_count(cell, metrics->count)) ||
        dft_grid_cell(tree->grid, dft_text_ns(cell, metrics->dur_sum)) ||
        dft_grid_cell(tree->grid, dft_plot_cells(cell, dft_plot_is_unicode(), metrics->dur_sum, tree->max_ns, CELLS)) ||
        dft_grid_cell(tree->grid, metrics->bytes ? dft_text_bytes(cell, metrics->bytes) : "-");
    return rc ? -ENOMEM : 0;
}

/* Edges are in the order of time. What takes less than a hundredth of the longest region is left
 * out. */
static int put_inside(struct tree *tree, uint64_t parent, unsigned depth, unsigned max)
{
    unsigned lines = 0;
    int rc = 0;

    for (unsigned i = 0; !rc && i < tree->count && lines < max; i++) {
        struct edge *edge = &tree->edges[i];
        int again = edge->shown;

        if (edge->parent != parent || edge->group->metrics.dur_sum < tree->max_ns / 100)
            continue;
        rc = put_line(tree, edge, depth);
        lines++;
        for (unsigned e = 0; edge->id && e < tree->count; e++)
            tree->edges[e].shown |= tree->edges[e].id == edge->id;
        if (!rc && edge->id && !again && depth < DEPTH_MAX)
            rc = put_inside(tree, edge->id, depth + 1, INSIDE_MAX);
    }
    return rc;
}

static int print_tree(FILE *out, struct tree *tree)
{
    static const struct dft_grid_column columns[] = {
        {"region", 1, 1, 0}, {"calls", 0, 0, 2}, {"time", 0, 0, 0}, {"", 1, 0, 3}, {"bytes", 0, 0, 1}};
    int rc;

    for (unsigned i = 0; i < tree->count && !tree->max_ns; i++)
        tree->max_ns = tree->edges[i].parent ? 0 : tree->edges[i].group->metrics.dur_sum;
    if (!tree->max_ns) /* what is around them is not queried */
        return 0;
    tree->grid = dft_grid_create(columns, sizeof columns / sizeof *columns);
    if (!tree->grid)
        return -ENOMEM;
    rc = put_inside(tree, 0, 0, ROOTS_MAX);
    if (!rc) {
        fputc('\n', out);
        dft_text_wrapped(out, "", 0, "Regions and what is inside them");
        dft_grid_print(tree->grid, out);
    }
    dft_grid_destroy(tree->grid);
    return rc;
}

const struct dft_query dft_region_tree_query = {
    .by = {DFT_BY_REGION, DFT_BY_CAT, DFT_BY_NAME, DFT_BY_OP}, .nby = 4, .classes = DFT_CLASSES_IO | 1u << DFT_IO_NONE};

int dft_region_tree_print(FILE *out, const struct dft_answer *answer)
{
    struct tree *tree;
    int rc;

    if (dft_comm_rank())
        return 0;
    tree = calloc(1, sizeof *tree);
    if (!tree)
        return -ENOMEM;
    tree->answer = answer;
    add_edges(tree);
    rc = is_nested(tree) ? print_tree(out, tree) : 0;
    free(tree);
    return rc;
}
