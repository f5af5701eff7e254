/* SPDX-License-Identifier: MIT */
/* The lineage of an entity as a tree of lines: regions of one name are one line, each entity appears once. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "base/write_text.h"
#include "lineage/lineage_find.h"
#include "lineage/lineage_graph.h"
#include "lineage/lineage_output.h"
#include "lineage/lineage_ranks.h"

#define LINES_MAX  5000u
#define NAME_WIDTH 100u

enum state { NOT_SHOWN, ON_THE_WAY, SHOWN };

/* A region, or a relation of entities, that leads on from an entity. */
struct step {
    uint64_t call, first_ns; /* call 0: a relation of entities */
    uint32_t number;
    uint8_t relation;
};

struct steps {
    struct step *list;
    uint32_t count, capacity;
};

struct targets {
    uint32_t *list;
    uint32_t count, capacity;
};

struct tree {
    const struct dft_lineage_answer *answer;
    const struct dft_lineage *lineage;
    enum dft_lineage_way way;
    FILE *out;
    uint8_t *states; /* enum state, by entity */
    uint64_t lines, cycles;
    uint32_t steps; /* from the entity that is requested */
};

static int expand(struct tree *tree, uint32_t entity, uint32_t level);

/* --- what leads on ---------------------------------------------------------------------------- */

static int add_activity_steps(const struct tree *tree, uint32_t number, uint32_t entity, struct steps *steps)
{
    const struct dft_lineage *lineage = tree->lineage;
    const struct dft_lineage_activity *activity = &lineage->activities[number];

    if (steps->count && steps->list[steps->count - 1].call && steps->list[steps->count - 1].number == number)
        return 0; /* stands in the index once for each of its relations */
    for (uint32_t i = activity->from; i < activity->from + activity->uses; i++) {
        const struct dft_lineage_use *use = &lineage->uses[i];
        const struct step step = {activity->call, activity->first_ns, number, use->relation};
        int is_end = tree->way == DFT_LINEAGE_DOWN && use->relation == DFT_LINEAGE_INVALIDATED;

        if (use->entity == entity && (is_end || dft_lineage_enters(tree->way, use->relation)) &&
            DFT_ARRAY_PUSH(steps->list, steps->capacity, steps->count, step))
            return -ENOMEM;
    }
    return 0;
}

static int by_kind(const void *left, const void *right)
{
    const struct step *a = left, *b = right;

    DFT_ORDER(!a->call, !b->call);
    DFT_ORDER(a->relation, b->relation);
    DFT_ORDER(a->call, b->call);
    DFT_ORDER(a->number, b->number);
    return 0;
}

static int find_steps(const struct tree *tree, uint32_t entity, struct steps *steps)
{
    const struct dft_lineage *lineage = tree->lineage;
    const struct dft_lineage_index *activities = &lineage->of_activities, *links = &lineage->of_links;

    for (uint32_t i = activities->from[entity]; i < activities->from[entity + 1]; i++)
        if (add_activity_steps(tree, activities->list[i], entity, steps))
            return -ENOMEM;
    for (uint32_t i = links->from[entity]; i < links->from[entity + 1]; i++) {
        const struct dft_lineage_link *link = &lineage->links[links->list[i]];
        const struct step step = {0, 0, links->list[i], link->relation};

        if (dft_lineage_follow(link, entity, tree->way) != UINT32_MAX &&
            DFT_ARRAY_PUSH(steps->list, steps->capacity, steps->count, step))
            return -ENOMEM;
    }
    if (steps->count)
        qsort(steps->list, steps->count, sizeof *steps->list, by_kind);
    return 0;
}

static int is_same_line(const struct step *a, const struct step *b)
{
    return a->call == b->call && a->relation == b->relation;
}

static int compare_targets(const void *left, const void *right, void *context)
{
    const struct dft_lineage *lineage = context;
    const struct dft_lineage_entity *a = &lineage->entities[*(const uint32_t *)left],
                                    *b = &lineage->entities[*(const uint32_t *)right];

    DFT_ORDER(a->since_ns, b->since_ns);
    DFT_ORDER(a->id, b->id);
    return 0;
}

/* The entities that a line leads to, each once. */
static int find_targets(const struct tree *tree, uint32_t entity, const struct step *steps, uint32_t count,
                        struct targets *targets)
{
    const struct dft_lineage *lineage = tree->lineage;
    uint32_t unique = 0;

    for (uint32_t s = 0; s < count; s++) {
        const struct dft_lineage_activity *activity = &lineage->activities[steps[s].number];

        if (!steps[s].call && DFT_ARRAY_PUSH(targets->list, targets->capacity, targets->count,
                                             dft_lineage_follow(&lineage->links[steps[s].number], entity, tree->way)))
            return -ENOMEM;
        if (!steps[s].call || steps[s].relation == DFT_LINEAGE_INVALIDATED)
            continue;
        for (uint32_t i = activity->from; i < activity->from + activity->uses; i++)
            if (lineage->uses[i].entity != entity && dft_lineage_leaves(tree->way, lineage->uses[i].relation) &&
                DFT_ARRAY_PUSH(targets->list, targets->capacity, targets->count, lineage->uses[i].entity))
                return -ENOMEM;
    }
    if (targets->count)
        qsort_r(targets->list, targets->count, sizeof *targets->list, compare_targets, (void *)(uintptr_t)lineage);
    for (uint32_t i = 0; i < targets->count; i++)
        if (!unique || targets->list[unique - 1] != targets->list[i])
            targets->list[unique++] = targets->list[i];
    targets->count = unique;
    return 0;
}

/* --- lines ------------------------------------------------------------------------------------ */

static void indent(struct tree *tree, uint32_t level)
{
    fprintf(tree->out, "%*s", (int)(2 + 4 * (level < 40 ? level : 40)), "");
    tree->lines++;
}

static const char *verb_of(enum dft_lineage_way way, uint8_t relation)
{
    static const char *const links[][2] = {
        {"derived from", "source of"}, {"a revision of", "revised as"},  {"contains", "contained in"},
        {"has the part", "part of"},   {"a kind of", "general form of"}, {"another form of", "another form of"},
        {"depends on", "needed by"},
    };

    if (DFT_LINEAGE_IS_LINK(relation))
        return links[relation - DFT_LINEAGE_DERIVED_FROM][way == DFT_LINEAGE_DOWN];
    return relation == DFT_LINEAGE_UPDATED       ? "updated by"
           : relation == DFT_LINEAGE_INVALIDATED ? "ended by"
           : relation == DFT_LINEAGE_USED        ? "used by"
                                                 : "made by";
}

static int print_regions(struct tree *tree, const struct step *steps, uint32_t count, uint32_t level)
{
    const struct dft_lineage *lineage = tree->lineage;
    uint64_t times = 0, first = UINT64_MAX, last = 0;
    struct dft_lineage_ranks ranks = {.answer = tree->answer};
    struct dft_text category, name;
    char buffer[18], text[DFT_TEXT_ROOM];
    int rc = 0;

    for (uint32_t i = 0; !rc && i < count; i++) {
        const struct dft_lineage_activity *activity = &lineage->activities[steps[i].number];

        times += activity->count;
        first = activity->first_ns < first ? activity->first_ns : first;
        last = activity->last_ns > last ? activity->last_ns : last;
        rc = dft_lineage_ranks_add(&ranks, activity->process);
    }
    dft_names_call(tree->answer->names, steps->call, &category, &name, buffer);
    indent(tree, level);
    fprintf(tree->out, "%s ", verb_of(tree->way, steps->relation));
    dft_text_escape(tree->out, category.bytes, category.length);
    fputs(category.length ? " " : "", tree->out);
    dft_text_escape(tree->out, name.bytes, name.length < NAME_WIDTH ? name.length : NAME_WIDTH);
    fprintf(tree->out, ": %s time%s in ", dft_text_count(text, times), times == 1 ? "" : "s");
    dft_lineage_ranks_print(&ranks, tree->out);
    first = first > lineage->origin_ns ? first - lineage->origin_ns : 0;
    last = last > lineage->origin_ns ? last - lineage->origin_ns : 0;
    fprintf(tree->out, ", from %.6f s to %.6f s\n", (double)first / 1e9, (double)last / 1e9);
    dft_lineage_ranks_fini(&ranks);
    return rc;
}

static int print_entity(struct tree *tree, uint32_t entity, const char *verb, uint32_t level)
{
    const struct dft_lineage_entity *it = &tree->lineage->entities[entity];
    char *name = dft_lineage_shown(tree->lineage, entity, NAME_WIDTH);

    if (!name)
        return -ENOMEM;
    indent(tree, level);
    fprintf(tree->out, "%s%s%s", verb, *verb ? " " : "", name);
    free(name);
    if (!it->declared)
        fputs(" (never declared)", tree->out);
    if (tree->states[entity] == ON_THE_WAY) {
        fputs(" (leads back: cut)", tree->out);
        tree->cycles++;
    }
    return 0;
}

/* An entity on a line of its own, and what is behind it. */
static int print_target(struct tree *tree, uint32_t entity, const char *verb, uint32_t level)
{
    struct steps steps = {0};
    enum state state = (enum state)tree->states[entity];
    int rc = print_entity(tree, entity, verb, level), more = 0;

    if (!rc && state != ON_THE_WAY)
        rc = find_steps(tree, entity, &steps);
    more = steps.count != 0;
    free(steps.list);
    if (rc)
        return rc;
    if (more && state == SHOWN)
        fputs(" (see above)", tree->out);
    else if (more && tree->steps >= tree->answer->depth)
        fputs(" ... (--depth shows more)", tree->out);
    fputc('\n', tree->out);
    return more && state == NOT_SHOWN && tree->steps < tree->answer->depth ? expand(tree, entity, level + 1) : 0;
}

static int print_targets(struct tree *tree, const struct targets *targets, const char *verb, uint32_t level)
{
    int rc = 0;

    for (uint32_t i = 0; !rc && i < targets->count && tree->lines < LINES_MAX; i++) {
        if (i >= tree->answer->top) {
            indent(tree, level);
            fprintf(tree->out, "... and %" PRIu64 " more\n", targets->count - tree->answer->top);
            break;
        }
        rc = print_target(tree, targets->list[i], verb, level);
    }
    return rc;
}

static int print_step(struct tree *tree, uint32_t entity, const struct step *steps, uint32_t count, uint32_t level)
{
    struct targets targets = {0};
    int rc = find_targets(tree, entity, steps, count, &targets);

    if (!rc && !steps->call) {
        rc = print_targets(tree, &targets, verb_of(tree->way, steps->relation), level);
    } else if (!rc) {
        rc = print_regions(tree, steps, count, level);
        if (!rc)
            rc = print_targets(tree, &targets, tree->way == DFT_LINEAGE_UP ? "from" : "into", level + 1);
    }
    free(targets.list);
    return rc;
}

static int expand(struct tree *tree, uint32_t entity, uint32_t level)
{
    struct steps steps = {0};
    uint32_t from = 0, to;
    int rc;

    tree->states[entity] = ON_THE_WAY;
    tree->steps++;
    rc = find_steps(tree, entity, &steps);
    for (; !rc && from < steps.count && tree->lines < LINES_MAX; from = to) {
        for (to = from + 1; to < steps.count && is_same_line(&steps.list[from], &steps.list[to]);)
            to++;
        rc = print_step(tree, entity, steps.list + from, to - from, level);
    }
    free(steps.list);
    tree->states[entity] = SHOWN;
    tree->steps--;
    return rc;
}

int dft_lineage_tree(const struct dft_lineage_answer *answer, enum dft_lineage_way way, FILE *out, uint64_t *cycles)
{
    struct tree tree = {.answer = answer,
                        .lineage = answer->lineage,
                        .way = way,
                        .out = out,
                        .states = calloc(answer->lineage->nentities + 1u, 1)};
    int rc = tree.states ? expand(&tree, answer->entity, 0) : -ENOMEM;

    if (!rc && !tree.lines)
        fprintf(out, "  nothing that the traces know\n");
    if (tree.lines >= LINES_MAX)
        fprintf(out, "  ... the tree has more than %u lines; --json and --dot have all of it\n", LINES_MAX);
    *cycles += tree.cycles;
    free(tree.states);
    return rc;
}
