/* SPDX-License-Identifier: MIT */
/* Directories or call stacks as a tree: each node with what is below it. The lines that matter are shown, all others
 * are put together. A chain of directories with nothing else in them is one line, and of a chain of functions of
 * libraries the innermost is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/write_cut.h"
#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "format/hash.h"
#include "mpi/comm.h"
#include "summary/page.h"
#include "summary/page_ask.h"
#include "summary/page_footer.h"
#include "summary/page_table.h"

#define NODES_MAX 100000u /* what lies deeper counts for what is known above it */
#define DEPTH_MAX 1024u   /* directories inside each other, likewise */
#define LINES     40u
#define NUMBERS   36u /* columns of calls, time, share and bytes */
#define NARROW    20u
#define NOBODY    UINT32_MAX
#define SMALLEST  1000u /* a line of less than a thousandth is not shown */

struct node {
    struct dft_group group; /* with all that is below */
    char *path;
    uint32_t parent, first, children; /* children: so many, from order[first] on */
    uint8_t has_files, shown;
};

struct tree {
    struct dft_answer *answer;
    enum dft_by by;
    char separator;
    struct dft_sorting sorting;
    struct node *nodes;
    size_t capacity;
    uint32_t count;
    struct dft_map numbers; /* by id of the path: the node, + 1 */
    uint32_t *order;        /* children of each node together, in order */
    struct dft_names *texts;
    struct dft_group *lines;
    size_t nlines, lines_capacity;
};

/* --- the nodes -------------------------------------------------------------------------------- */

/* What is around a directory or a stack; empty: nothing. */
static struct dft_text around(const struct tree *tree, struct dft_text path)
{
    uint32_t length = path.length;

    while (length && path.bytes[length - 1] != tree->separator)
        length--;
    if (length > 1)
        length--; /* the slash; that of the root stays */
    return (struct dft_text){path.bytes, length == path.length ? 0 : length};
}

static void clear_group(struct dft_group *group)
{
    memset(group, 0, sizeof *group);
    dft_metrics_clear(&group->metrics);
    group->p50 = group->p95 = group->p99 = DFT_PERCENTILE_UNKNOWN;
}

/* The node of a path, or where there is no room for it the nearest above. Returns its number,
 * NOBODY: there is none, or -ENOMEM. */
static int64_t node_of(struct tree *tree, struct dft_text path)
{
    uint64_t id = dft_name_id(path.bytes, path.length), *known = dft_map_find(&tree->numbers, id);
    struct node node = {.parent = NOBODY};
    int64_t parent;

    if (known)
        return (int64_t)*known - 1;
    if (!path.length)
        return NOBODY;
    parent = node_of(tree, around(tree, path));
    if (parent < 0 || (tree->count == NODES_MAX && parent != NOBODY))
        return parent;
    node.parent = (uint32_t)parent;
    node.path = strndup(path.bytes, path.length);
    known = node.path ? dft_map_put(&tree->numbers, id) : NULL;
    clear_group(&node.group);
    if (!known || DFT_ARRAY_PUSH(tree->nodes, tree->capacity, tree->count, node)) {
        free(node.path);
        return -ENOMEM;
    }
    *known = tree->count;
    return tree->count - 1;
}

static int add_groups(struct tree *tree)
{
    const struct dft_answer *answer = tree->answer;

    for (uint32_t i = 0; i < answer->count; i++) {
        struct dft_key_value value;
        int64_t at;

        dft_group_value(answer, &answer->groups[i], tree->by, &value);
        if (value.type == DFT_KEY_NULL && tree->by == DFT_BY_STACK)
            value = (struct dft_key_value){.type = DFT_KEY_TEXT, .text = {"(no stack)", 10}};
        at = value.type == DFT_KEY_TEXT ? node_of(tree, value.text) : NOBODY;
        if (at < 0)
            return (int)at;
        if (at != NOBODY)
            tree->nodes[at].has_files = 1;
        for (; at != NOBODY; at = tree->nodes[at].parent)
            dft_metrics_merge(&tree->nodes[at].group.metrics, &answer->groups[i].metrics);
    }
    return 0;
}

static int add_pages(struct tree *tree)
{
    int rc;

    do
        rc = dft_comm_agree(add_groups(tree));
    while (!rc && (rc = dft_answer_next(tree->answer)) > 0);
    return rc;
}

/* --- which are shown -------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b, void *context)
{
    const struct tree *tree = context;
    const struct node *x = &tree->nodes[*(const uint32_t *)a], *y = &tree->nodes[*(const uint32_t *)b];
    int order = dft_group_compare(&x->group, &y->group, (void *)(uintptr_t)&tree->sorting);

    return order ? order : strcmp(x->path, y->path); /* parents before what is in them */
}

static int by_parent(const void *a, const void *b, void *context)
{
    const struct tree *tree = context;
    uint32_t x = tree->nodes[*(const uint32_t *)a].parent, y = tree->nodes[*(const uint32_t *)b].parent;

    return x == y ? by_value(a, b, context) : x < y ? -1 : 1;
}

/* Has it nothing but one directory in it, or is it a library's function that calls but one? */
static int is_link(const struct tree *tree, const struct node *node)
{
    return node->children == 1 && !node->has_files &&
           (tree->by == DFT_BY_DIR || node->path[strlen(node->path) - 1] == ']');
}

static int matters(const struct tree *tree, const struct dft_group *group)
{
    return !tree->answer->all_ns || group->metrics.dur_sum >= tree->answer->all_ns / SMALLEST;
}

static int choose(struct tree *tree, uint64_t lines)
{
    uint32_t *order = tree->order = malloc((tree->count + 1u) * sizeof *order);

    if (!order)
        return -ENOMEM;
    for (uint32_t i = 0; i < tree->count; i++) {
        order[i] = i;
        if (tree->nodes[i].parent != NOBODY)
            tree->nodes[tree->nodes[i].parent].children++;
    }
    qsort_r(order, tree->count, sizeof *order, by_value, tree);
    for (uint32_t i = 0; i < tree->count && lines; i++) {
        struct node *node = &tree->nodes[order[i]];

        if (is_link(tree, node) || !matters(tree, &node->group))
            continue;
        lines--;
        for (uint32_t at = order[i]; at != NOBODY && !tree->nodes[at].shown; at = tree->nodes[at].parent)
            tree->nodes[at].shown = 1;
    }
    qsort_r(order, tree->count, sizeof *order, by_parent, tree);
    for (uint32_t i = tree->count; i--;)
        if (tree->nodes[order[i]].parent != NOBODY)
            tree->nodes[tree->nodes[order[i]].parent].first = i;
    return 0;
}

/* --- lines ------------------------------------------------------------------------------------ */

/* A function and its indentation leave room for the numbers. */
static char *indented(const struct tree *tree, unsigned depth, const char *text)
{
    size_t all = dft_terminal_width(), taken = NUMBERS + 2u * (size_t)depth;
    size_t width = all > taken + NARROW ? all - taken : NARROW;
    char *cut = tree->by == DFT_BY_STACK ? dft_text_fit(text, width, 0) : strdup(text);
    char *line = NULL;

    if (!cut || asprintf(&line, "%*s%s", (int)(2 * depth), "", cut) < 0)
        line = NULL;
    free(cut);
    return line;
}

static int add_line(struct tree *tree, unsigned depth, const char *text, const struct dft_group *group)
{
    struct dft_group line = *group;
    char *label = indented(tree, depth, text);
    uint32_t length = label ? (uint32_t)strlen(label) : 0;
    int rc;

    if (!label)
        return -ENOMEM;
    line.key.file = line.key.stack = dft_name_id(label, length);
    rc = dft_names_add(tree->texts, line.key.file, label, length, NULL);
    free(label);
    return rc ? rc : DFT_ARRAY_PUSH(tree->lines, tree->lines_capacity, tree->nlines, line);
}

/* The part of a path that is below a directory. */
static const char *below(const char *path, const char *directory)
{
    size_t length = directory ? strlen(directory) : 0;

    return path + length + (length && directory[length - 1] != '/');
}

/* Where the place of a function begins, " (file:12)" or " [module]"; else the end. */
static const char *place_of(const char *frame)
{
    const char *end = frame + strlen(frame), *place = end;

    for (const char *at = frame; (at = strpbrk(at, "([")); at++)
        if (at > frame && at[-1] == ' ' && at + strcspn(at, ")]") + 1 == end)
            place = at - 1;
    return place;
}

/* The innermost function of a stack, without the arguments of templates and of calls, in `text`. */
static const char *innermost(const char *stack, char *text, size_t size)
{
    static const char operators[] = "operator", nowhere[] = "(anonymous namespace)";
    const char *at = strrchr(stack, ';') ? strrchr(stack, ';') + 1 : stack, *place = place_of(at);
    size_t used = 0, depth = 0, whole;

    while (at < place && used + 1 < size) {
        whole = !strncmp(at, nowhere, sizeof nowhere - 1)       ? sizeof nowhere - 1
                : !strncmp(at, operators, sizeof operators - 1) ? sizeof operators - 1
                                                                : 0;
        if (whole == sizeof operators - 1)
            whole += !strncmp(at + whole, "()", 2) ? 2 : strspn(at + whole, "<>=-");
        for (; whole && at < place; whole--, at++)
            if (!depth && used + 1 < size)
                text[used++] = *at;
        if (at >= place)
            break;
        depth += *at == '<' || *at == '(';
        if (!depth && used + 1 < size)
            text[used++] = *at;
        depth -= depth && (*at == '>' || *at == ')');
        at++;
    }
    snprintf(text + used, size - used, "%s", place);
    return text;
}

/* Those of one node that are not shown by themselves. */
static int add_rest(struct tree *tree, const uint32_t *order, uint32_t count, unsigned depth)
{
    struct dft_group rest;
    uint32_t n = 0;
    char text[DFT_TEXT_ROOM], line[DFT_TEXT_ROOM + 8];

    clear_group(&rest);
    for (uint32_t i = 0; i < count; i++)
        if (!tree->nodes[order[i]].shown) {
            dft_metrics_merge(&rest.metrics, &tree->nodes[order[i]].group.metrics);
            n++;
        }
    snprintf(line, sizeof line, "(%s more)", dft_text_count(text, n));
    return n && matters(tree, &rest) ? add_line(tree, depth, line, &rest) : 0;
}

static int add_nodes(struct tree *tree, const uint32_t *order, uint32_t count, const char *inside, unsigned depth)
{
    int rc = 0;

    for (uint32_t i = 0; i < count && !rc; i++) {
        const struct node *node = &tree->nodes[order[i]];
        char function[512];
        const char *text;

        if (!node->shown)
            continue;
        while (is_link(tree, node))
            node = &tree->nodes[tree->order[node->first]];
        text = tree->by == DFT_BY_DIR ? below(node->path, inside) : innermost(node->path, function, sizeof function);
        rc = add_line(tree, depth, text, &node->group);
        if (!rc)
            rc = add_nodes(tree, tree->order + node->first, node->children, node->path, depth + 1);
    }
    return rc ? rc : add_rest(tree, order, count, depth);
}

static int print_lines(struct tree *tree, struct dft_answer *answer)
{
    struct dft_page_table table = {.share_ns = answer->all_ns, .fits = tree->by == DFT_BY_STACK};
    struct dft_answer shown = *answer;
    struct dft_page_line *lines;
    uint32_t roots = 0;
    int rc;

    while (roots < tree->count && tree->nodes[tree->order[tree->count - 1 - roots]].parent == NOBODY)
        roots++;
    rc = add_nodes(tree, tree->order + tree->count - roots, roots, NULL, 0);
    if (rc)
        return rc;
    shown.groups = tree->lines;
    shown.count = (uint32_t)tree->nlines;
    shown.texts = tree->texts;
    shown.has_percentiles = 0;
    table.answer = &shown;
    lines = dft_page_lines(&shown, 0, &table.count);
    if (!lines)
        return -ENOMEM;
    table.lines = lines;
    rc = dft_page_table(&table);
    free(lines);
    return rc;
}

/* --- the whole -------------------------------------------------------------------------------- */

static void fini(struct tree *tree)
{
    for (uint32_t i = 0; i < tree->count; i++)
        free(tree->nodes[i].path);
    free(tree->nodes);
    free(tree->order);
    free(tree->lines);
    dft_map_fini(&tree->numbers);
    dft_names_destroy(tree->texts);
}

int dft_summary_tree(struct dft_summary *summary)
{
    const struct dft_options *options = summary->options;
    struct dft_page page = {.summary = summary};
    struct dft_answer answer;
    const int of_stacks = summary->query.by[0] == DFT_BY_STACK;
    struct tree tree = {
        .answer = &answer, .by = of_stacks ? DFT_BY_STACK : DFT_BY_DIR, .separator = of_stacks ? ';' : '/'};
    struct dft_query query = summary->query;
    int rc, nothing;

    query.depth = query.depth && query.depth < DEPTH_MAX ? query.depth : DEPTH_MAX;
    rc = dft_summary_ask(summary, &query, NULL, 0, DFT_SUMMARY_LINES, &answer);
    if (rc)
        return rc;
    tree.texts = dft_names_create(NULL);
    rc = dft_comm_agree(tree.texts ? 0 : -ENOMEM);
    if (!rc)
        rc = add_pages(&tree);
    answer.sorted = options->sort;
    if (!rc)
        rc = dft_order_find(&answer, options->sort, &tree.sorting);
    if (!rc)
        rc = choose(&tree, options->top ? options->top : LINES);
    nothing = dft_summary_nothing(summary, &answer);
    if (!rc && tree.count) {
        dft_text_wrapped(stdout, "", 0,
                         of_stacks ? "Call stacks, each function with all that it called"
                                   : "Directories, each with all that is below it");
        rc = print_lines(&tree, &answer);
    }
    dft_page_answered(&page, &answer, 0);
    if (!rc && !nothing)
        dft_page_footer(&page, NULL);
    fini(&tree);
    dft_answer_fini(&answer);
    return rc;
}
