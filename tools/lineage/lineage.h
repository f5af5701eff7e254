/* SPDX-License-Identifier: MIT */
/* Entities, the regions that used and made them, and how they relate to each other: a graph. It is
 * made once, in any order of events; after dft_lineage_finish its order depends on them alone. */
#ifndef DFT_LINEAGE_H
#define DFT_LINEAGE_H

#include "base/map.h"
#include "base/names.h"

/* DFTracer's numbers. Below 16: of a region to an entity. */
enum dft_lineage_relation {
    DFT_LINEAGE_USED = 0,
    DFT_LINEAGE_GENERATED = 1,
    DFT_LINEAGE_INVALIDATED = 2,
    DFT_LINEAGE_UPDATED = 3,
    DFT_LINEAGE_REGION_LAST = DFT_LINEAGE_UPDATED,
    DFT_LINEAGE_DERIVED_FROM = 16,
    DFT_LINEAGE_REVISION_OF = 17,
    DFT_LINEAGE_CONTAINS = 18,
    DFT_LINEAGE_PART_OF = 19,
    DFT_LINEAGE_SPECIALIZATION_OF = 20,
    DFT_LINEAGE_ALTERNATE_OF = 21,
    DFT_LINEAGE_DEPENDS_ON = 22,
};
#define DFT_LINEAGE_IS_LINK(relation) ((relation) >= DFT_LINEAGE_DERIVED_FROM && (relation) <= DFT_LINEAGE_DEPENDS_ON)

#define DFT_LINEAGE_STORE_OTHER 8

enum dft_lineage_way { DFT_LINEAGE_UP, DFT_LINEAGE_DOWN };

/* Texts are ids in `texts`; 0: not known. */
struct dft_lineage_entity {
    uint64_t id, type, key, uri;
    uint64_t since_ns; /* the first declaration; UINT64_MAX: never declared */
    int64_t store;
    uint64_t declared;                          /* how often */
    uint8_t disputed;                           /* was declared with several URIs */
    uint32_t uses[DFT_LINEAGE_REGION_LAST + 1]; /* regions that have such a relation to it */
};

struct dft_lineage_type {
    uint64_t name, description, entities;
    int64_t role; /* -1: not reported */
    uint64_t since_ns;
};

/* One relation of a region. `entity`: its place in the list. */
struct dft_lineage_use {
    uint32_t entity;
    uint8_t relation;
};

/* Regions of one name in one process with the same relations. */
struct dft_lineage_activity {
    uint64_t call;
    uint32_t process, count;
    uint32_t from, uses; /* in the list of uses */
    uint64_t first_ns, last_ns, time_ns;
};

/* One relation of two entities. */
struct dft_lineage_link {
    uint32_t subject, object;
    uint64_t count;
    uint8_t relation;
};

/* Lists by entity: those of entity i are list[from[i]] to list[from[i + 1] - 1]. */
struct dft_lineage_index {
    uint32_t *from, *list;
};

/* What the graph cannot say. */
struct dft_lineage_troubles {
    uint64_t broken;     /* records that make no sense */
    uint64_t selves;     /* relations of an entity to itself */
    uint64_t cut;        /* declarations of which a text was cut or left out */
    uint64_t unmatched;  /* relations whose region is not there */
    uint64_t aggregated; /* processes of which some events are known only as aggregates */
};

struct dft_lineage {
    struct dft_names *texts;
    struct dft_lineage_entity *entities;
    struct dft_lineage_type *types;
    struct dft_lineage_use *uses;
    struct dft_lineage_activity *activities;
    struct dft_lineage_link *links;
    uint32_t nentities, ntypes, nuses, nactivities, nlinks;
    uint32_t entities_capacity, types_capacity, uses_capacity, activities_capacity, links_capacity;
    struct dft_map entity_places, type_places, activity_places, link_places; /* place + 1 */
    struct dft_lineage_index of_activities, of_links;                        /* after dft_lineage_finish */
    struct dft_lineage_troubles troubles;
    uint64_t origin_ns;
};

/* A region, as it is reported. */
struct dft_lineage_region {
    uint64_t call, start_ns, dur_ns;
    uint32_t process;
};
struct dft_lineage_relate {
    uint64_t entity; /* its id */
    uint8_t relation;
};

/* Does the region make the entity, or take it, by this relation? An update does both. */
static inline int dft_lineage_makes(uint8_t relation)
{
    return relation == DFT_LINEAGE_GENERATED || relation == DFT_LINEAGE_UPDATED;
}
static inline int dft_lineage_takes(uint8_t relation)
{
    return relation == DFT_LINEAGE_USED || relation == DFT_LINEAGE_UPDATED;
}
/* On the way up a region that makes an entity leads to what it takes; on the way down the reverse. */
static inline int dft_lineage_enters(enum dft_lineage_way way, uint8_t relation)
{
    return way == DFT_LINEAGE_UP ? dft_lineage_makes(relation) : dft_lineage_takes(relation);
}
static inline int dft_lineage_leaves(enum dft_lineage_way way, uint8_t relation)
{
    return way == DFT_LINEAGE_UP ? dft_lineage_takes(relation) : dft_lineage_makes(relation);
}

#endif
