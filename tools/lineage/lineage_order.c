/* SPDX-License-Identifier: MIT */
/* Puts the graph in an order that no thread and no file decides, and makes its indexes. */
#include "lineage/lineage_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "lineage/lineage_graph.h"

static int by_id(const void *left, const void *right)
{
    const struct dft_lineage_entity *a = left, *b = right;

    DFT_ORDER(a->id, b->id);
    return 0;
}

static int by_name(const void *left, const void *right)
{
    const struct dft_lineage_type *a = left, *b = right;

    DFT_ORDER(b->entities, a->entities);
    DFT_ORDER(a->name, b->name);
    return 0;
}

static int by_ends(const void *left, const void *right)
{
    const struct dft_lineage_link *a = left, *b = right;

    DFT_ORDER(a->subject, b->subject);
    DFT_ORDER(a->relation, b->relation);
    DFT_ORDER(a->object, b->object);
    return 0;
}

static int compare_activities(const void *left, const void *right, void *context)
{
    const struct dft_lineage *lineage = context;
    const struct dft_lineage_activity *a = left, *b = right;

    DFT_ORDER(a->first_ns, b->first_ns);
    DFT_ORDER(a->process, b->process);
    DFT_ORDER(a->call, b->call);
    DFT_ORDER(a->uses, b->uses);
    for (uint32_t i = 0; i < a->uses; i++) {
        const struct dft_lineage_use *x = &lineage->uses[a->from + i], *y = &lineage->uses[b->from + i];

        DFT_ORDER(x->entity, y->entity);
        DFT_ORDER(x->relation, y->relation);
    }
    return 0;
}

/* Entities get their final places, and all else names these. */
static int order_entities(struct dft_lineage *lineage)
{
    uint32_t *place = malloc((lineage->nentities + 1u) * sizeof *place);

    if (!place)
        return -ENOMEM;
    if (lineage->nentities)
        qsort(lineage->entities, lineage->nentities, sizeof *lineage->entities, by_id);
    for (uint32_t i = 0; i < lineage->nentities; i++) {
        uint64_t *at = dft_map_find(&lineage->entity_places, lineage->entities[i].id);

        place[*at - 1] = i;
        *at = i + 1;
    }
    for (uint32_t i = 0; i < lineage->nuses; i++)
        lineage->uses[i].entity = place[lineage->uses[i].entity];
    for (uint32_t i = 0; i < lineage->nlinks; i++) {
        lineage->links[i].subject = place[lineage->links[i].subject];
        lineage->links[i].object = place[lineage->links[i].object];
    }
    free(place);
    return 0;
}

static int count_types(struct dft_lineage *lineage)
{
    int rc = 0;

    for (uint32_t i = 0; !rc && i < lineage->nentities; i++)
        if (lineage->entities[i].type)
            rc = dft_lineage_declare_type(
                lineage, &(struct dft_lineage_type){.name = lineage->entities[i].type, .entities = 1, .role = -1});
    if (lineage->ntypes)
        qsort(lineage->types, lineage->ntypes, sizeof *lineage->types, by_name);
    dft_map_clear(&lineage->type_places);
    for (uint32_t i = 0; !rc && i < lineage->ntypes; i++) {
        uint64_t *at = dft_map_put(&lineage->type_places, lineage->types[i].name);

        rc = at ? 0 : -ENOMEM;
        if (at)
            *at = i + 1;
    }
    return rc;
}

static void count_uses(struct dft_lineage *lineage)
{
    for (uint32_t i = 0; i < lineage->nactivities; i++) {
        const struct dft_lineage_activity *activity = &lineage->activities[i];

        for (uint32_t k = activity->from; k < activity->from + activity->uses; k++)
            lineage->entities[lineage->uses[k].entity].uses[lineage->uses[k].relation] += activity->count;
    }
}

/* --- indexes ---------------------------------------------------------------------------------- */

/* Numbers behind `from` of an entity are counted first, and then filled in from the end. */
static int index_begin(struct dft_lineage_index *index, const struct dft_lineage *lineage, size_t entries)
{
    index->from = calloc(lineage->nentities + 1u, sizeof *index->from);
    index->list = malloc((entries + 1) * sizeof *index->list);
    return index->from && index->list ? 0 : -ENOMEM;
}

static void index_sum(struct dft_lineage_index *index, const struct dft_lineage *lineage)
{
    for (uint32_t i = 0; i < lineage->nentities; i++)
        index->from[i + 1] += index->from[i];
}

static int index_activities(struct dft_lineage *lineage)
{
    struct dft_lineage_index *index = &lineage->of_activities;

    if (index_begin(index, lineage, lineage->nuses))
        return -ENOMEM;
    for (uint32_t i = 0; i < lineage->nuses; i++)
        index->from[lineage->uses[i].entity]++;
    index_sum(index, lineage);
    for (uint32_t i = lineage->nactivities; i-- > 0;) {
        const struct dft_lineage_activity *activity = &lineage->activities[i];

        for (uint32_t k = activity->from + activity->uses; k-- > activity->from;)
            index->list[--index->from[lineage->uses[k].entity]] = i;
    }
    return 0;
}

static int index_links(struct dft_lineage *lineage)
{
    struct dft_lineage_index *index = &lineage->of_links;

    if (index_begin(index, lineage, 2 * (size_t)lineage->nlinks))
        return -ENOMEM;
    for (uint32_t i = 0; i < lineage->nlinks; i++) {
        index->from[lineage->links[i].subject]++;
        index->from[lineage->links[i].object]++;
    }
    index_sum(index, lineage);
    for (uint32_t i = lineage->nlinks; i-- > 0;) {
        index->list[--index->from[lineage->links[i].subject]] = i;
        index->list[--index->from[lineage->links[i].object]] = i;
    }
    return 0;
}

int dft_lineage_finish(struct dft_lineage *lineage)
{
    int rc = order_entities(lineage);

    if (!rc)
        rc = count_types(lineage);
    if (rc)
        return rc;
    if (lineage->nlinks)
        qsort(lineage->links, lineage->nlinks, sizeof *lineage->links, by_ends);
    dft_map_fini(&lineage->link_places); /* their places are others now */
    dft_map_fini(&lineage->activity_places);
    if (lineage->nactivities)
        qsort_r(lineage->activities, lineage->nactivities, sizeof *lineage->activities, compare_activities, lineage);
    count_uses(lineage);
    rc = index_activities(lineage);
    return rc ? rc : index_links(lineage);
}
