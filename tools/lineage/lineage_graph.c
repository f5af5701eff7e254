/* SPDX-License-Identifier: MIT */
/* The graph: adds what events say, in any order, and puts it in an order of its own. */
#include "lineage/lineage_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "format/hash.h"

int dft_lineage_init(struct dft_lineage *lineage)
{
    memset(lineage, 0, sizeof *lineage);
    lineage->texts = dft_names_create(NULL);
    return lineage->texts ? 0 : -ENOMEM;
}

void dft_lineage_fini(struct dft_lineage *lineage)
{
    struct dft_lineage_index *indexes[] = {&lineage->of_activities, &lineage->of_links};
    struct dft_map *maps[] = {&lineage->entity_places, &lineage->type_places, &lineage->activity_places,
                              &lineage->link_places};
    void *lists[] = {lineage->entities, lineage->types, lineage->uses, lineage->activities, lineage->links};

    for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++) {
        free(indexes[i]->from);
        free(indexes[i]->list);
    }
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        dft_map_fini(maps[i]);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]);
    dft_names_destroy(lineage->texts);
    memset(lineage, 0, sizeof *lineage);
}

int dft_lineage_text(struct dft_lineage *lineage, struct dft_text text, uint64_t *id)
{
    *id = dft_name_id(text.bytes, text.length);
    return dft_names_add(lineage->texts, *id, text.bytes, text.length, NULL);
}

/* The place of an entity, which is made where it is not there yet. */
static int place_of(struct dft_lineage *lineage, uint64_t id, uint32_t *place)
{
    const struct dft_lineage_entity fresh = {.id = id, .since_ns = UINT64_MAX, .store = -1};
    uint64_t *at = dft_map_put(&lineage->entity_places, id);

    if (!at || (!*at && DFT_ARRAY_PUSH(lineage->entities, lineage->entities_capacity, lineage->nentities, fresh)))
        return -ENOMEM;
    if (!*at)
        *at = lineage->nentities;
    *place = (uint32_t)(*at - 1);
    return 0;
}

/* A URI says most, then a store that is not what relations of regions say by default. */
static int worth(const struct dft_lineage_entity *entity)
{
    return entity->uri ? 0 : entity->store > 0 && entity->store != DFT_LINEAGE_STORE_OTHER ? 1 : 2;
}

/* Where several declarations say as much, the first counts. */
static int compare_declared(const struct dft_lineage_entity *a, const struct dft_lineage_entity *b)
{
    DFT_ORDER(worth(a), worth(b));
    DFT_ORDER(a->since_ns, b->since_ns);
    DFT_ORDER(a->uri, b->uri);
    DFT_ORDER(a->store, b->store);
    return 0;
}

int dft_lineage_declare(struct dft_lineage *lineage, const struct dft_lineage_entity *declared)
{
    struct dft_lineage_entity *entity;
    uint32_t place;
    int better;

    if (place_of(lineage, declared->id, &place))
        return -ENOMEM;
    entity = &lineage->entities[place];
    better = entity->since_ns == UINT64_MAX || compare_declared(declared, entity) < 0;
    entity->declared += declared->declared;
    entity->disputed |= entity->uri && declared->uri && entity->uri != declared->uri;
    if (better) {
        entity->uri = declared->uri;
        entity->store = declared->store;
        entity->type = declared->type;
        entity->since_ns = declared->since_ns;
    }
    if (declared->key)
        entity->key = declared->key;
    return 0;
}

int dft_lineage_declare_type(struct dft_lineage *lineage, const struct dft_lineage_type *declared)
{
    const struct dft_lineage_type fresh = {.name = declared->name, .role = -1, .since_ns = UINT64_MAX};
    uint64_t *at = dft_map_put(&lineage->type_places, declared->name);
    struct dft_lineage_type *type;

    if (!at || (!*at && DFT_ARRAY_PUSH(lineage->types, lineage->types_capacity, lineage->ntypes, fresh)))
        return -ENOMEM;
    if (!*at)
        *at = lineage->ntypes;
    type = &lineage->types[*at - 1];
    type->entities += declared->entities;
    if (declared->role >= 0 && (declared->since_ns < type->since_ns ||
                                (declared->since_ns == type->since_ns && declared->description < type->description))) {
        type->role = declared->role;
        type->description = declared->description;
        type->since_ns = declared->since_ns;
    }
    return 0;
}

int dft_lineage_link(struct dft_lineage *lineage, uint64_t subject, uint64_t object, uint8_t relation)
{
    struct dft_lineage_link link = {.relation = relation};
    uint64_t *at;

    if (subject == object) {
        lineage->troubles.selves++;
        return 0;
    }
    at = dft_map_put(&lineage->link_places, dft_map_join(dft_map_join(subject, object), relation));
    if (!at)
        return -ENOMEM;
    if (!*at) {
        if (place_of(lineage, subject, &link.subject) || place_of(lineage, object, &link.object) ||
            DFT_ARRAY_PUSH(lineage->links, lineage->links_capacity, lineage->nlinks, link))
            return -ENOMEM;
        *at = lineage->nlinks;
    }
    lineage->links[*at - 1].count++;
    return 0;
}

/* --- regions ---------------------------------------------------------------------------------- */

static int by_entity(const void *left, const void *right)
{
    const struct dft_lineage_relate *a = left, *b = right;

    DFT_ORDER(a->entity, b->entity);
    DFT_ORDER(a->relation, b->relation);
    return 0;
}

static int add_activity(struct dft_lineage *lineage, const struct dft_lineage_region *region,
                        const struct dft_lineage_relate *relations, uint32_t count)
{
    struct dft_lineage_activity activity = {
        .call = region->call, .process = region->process, .from = lineage->nuses, .first_ns = UINT64_MAX};

    for (uint32_t i = 0; i < count; i++) {
        struct dft_lineage_use use = {.relation = relations[i].relation};

        if (place_of(lineage, relations[i].entity, &use.entity) ||
            DFT_ARRAY_PUSH(lineage->uses, lineage->uses_capacity, lineage->nuses, use))
            return -ENOMEM;
    }
    activity.uses = lineage->nuses - activity.from;
    return DFT_ARRAY_PUSH(lineage->activities, lineage->activities_capacity, lineage->nactivities, activity);
}

static void add_time(struct dft_lineage_activity *activity, const struct dft_lineage_region *region)
{
    uint64_t end = region->start_ns + region->dur_ns;

    activity->count++;
    activity->time_ns += region->dur_ns;
    if (region->start_ns < activity->first_ns)
        activity->first_ns = region->start_ns;
    if (end > activity->last_ns)
        activity->last_ns = end;
}

int dft_lineage_region(struct dft_lineage *lineage, const struct dft_lineage_region *region,
                       struct dft_lineage_relate *relations, uint32_t count)
{
    uint64_t hash = dft_map_join(region->call, region->process), *at;
    uint32_t unique = 0;

    qsort(relations, count, sizeof *relations, by_entity);
    for (uint32_t i = 0; i < count; i++) {
        if (unique && !by_entity(&relations[i], &relations[unique - 1]))
            continue;
        relations[unique++] = relations[i];
        hash = dft_map_join(dft_map_join(hash, relations[i].entity), relations[i].relation);
    }
    at = dft_map_put(&lineage->activity_places, hash);
    if (!at)
        return -ENOMEM;
    if (!*at) {
        if (add_activity(lineage, region, relations, unique))
            return -ENOMEM;
        *at = lineage->nactivities;
    }
    add_time(&lineage->activities[*at - 1], region);
    return 0;
}

/* --- ids -------------------------------------------------------------------------------------- */

static uint64_t hashed(uint64_t hash, const char *bytes, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
    return hash;
}

uint64_t dft_lineage_id(struct dft_text type, struct dft_text key)
{
    uint64_t hash = hashed(UINT64_C(1469598103934665603), type.bytes, type.length);

    hash = hashed(hashed(hash, "\x1f", 1), key.bytes, key.length);
    return hash ? hash : 1;
}

int dft_lineage_hex(struct dft_text text, uint64_t *id)
{
    *id = 0;
    if (text.length != 16)
        return -EINVAL;
    for (uint32_t i = 0; i < 16; i++) {
        char c = text.bytes[i], low = (char)(c | 32);

        if (c >= '0' && c <= '9')
            *id = *id << 4 | (uint64_t)(c - '0');
        else if (low >= 'a' && low <= 'f')
            *id = *id << 4 | (uint64_t)(low - 'a' + 10);
        else
            return -EINVAL;
    }
    return *id ? 0 : -EINVAL;
}

uint32_t dft_lineage_follow(const struct dft_lineage_link *link, uint32_t entity, enum dft_lineage_way way)
{
    /* the object is where the subject came from, but for what consists of the subject */
    int up_is_subject = link->relation == DFT_LINEAGE_PART_OF;
    uint32_t up = up_is_subject ? link->subject : link->object, down = up_is_subject ? link->object : link->subject;

    if (link->relation == DFT_LINEAGE_ALTERNATE_OF)
        return entity == up ? down : up;
    if (way == DFT_LINEAGE_UP)
        return entity == down ? up : UINT32_MAX;
    return entity == up ? down : UINT32_MAX;
}
