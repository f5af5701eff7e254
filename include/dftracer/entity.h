/* SPDX-License-Identifier: MIT */
/* DFTracer's entities: what an application works with (a sample, a shard, a checkpoint), named by a
 * type and a key, and how entities relate to each other and to regions. Part of dftracer.h.
 *
 * An entity's id is the 64-bit FNV-1a hash of type, byte 0x1f and key, so all processes and
 * languages agree on it. Declarations become metadata of category "dftracer": EH (id, type, store,
 * uri, key), ET (type, role, description), ER (relation, subject, object). A relation of a region is
 * its argument "RELATION:ID" with the value 1; the library makes a record of its own of what the
 * region has no room for. `dftmerge lineage` reads them. */
#ifndef DFTRACER_ENTITY_H
#define DFTRACER_ENTITY_H

#include <dftrace/dftrace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t EntityID;
typedef const char *ConstEntityTypeName;
typedef const char *ConstEntityKey;
typedef const char *ConstEntityURI;
typedef const char *ConstEntityDescription;

#define DFT_ENTITY_NONE ((EntityID)0)

/* Where an entity lives. */
typedef enum {
    DFT_STORE_MEMORY = 0,
    DFT_STORE_GPU_MEMORY = 1,
    DFT_STORE_LOCAL_DISK = 2,
    DFT_STORE_PARALLEL_FS = 3,
    DFT_STORE_BURST_BUFFER = 4,
    DFT_STORE_OBJECT_STORE = 5,
    DFT_STORE_DATABASE = 6,
    DFT_STORE_NETWORK = 7,
    DFT_STORE_OTHER = 8
} EntityStore;

/* What entities of a type are to the application. */
typedef enum {
    DFT_ROLE_UNKNOWN = 0,
    DFT_ROLE_INPUT = 1,
    DFT_ROLE_OUTPUT = 2,
    DFT_ROLE_INTERMEDIATE = 3,
    DFT_ROLE_PARAMETER = 4,
    DFT_ROLE_REFERENCE = 5
} EntityRole;

/* Below 16: of a region to an entity. From 16 on: of an entity to another one. */
typedef enum {
    DFT_REL_USED = 0,
    DFT_REL_GENERATED = 1,
    DFT_REL_INVALIDATED = 2,
    DFT_REL_UPDATED = 3,
    DFT_REL_DERIVED_FROM = 16,
    DFT_REL_REVISION_OF = 17,
    DFT_REL_CONTAINS = 18,
    DFT_REL_PART_OF = 19,
    DFT_REL_SPECIALIZATION_OF = 20,
    DFT_REL_ALTERNATE_OF = 21,
    DFT_REL_DEPENDS_ON = 22
} EntityRelation;

/* The name of a relation of a region to an entity; NULL for any other. */
static __inline__ const char *dftracer_relation_(EntityRelation relation)
{
    switch ((int)relation) {
    case DFT_REL_USED:
        return "used";
    case DFT_REL_GENERATED:
        return "generated";
    case DFT_REL_INVALIDATED:
        return "invalidated";
    case DFT_REL_UPDATED:
        return "updated";
    default:
        return 0;
    }
}

static __inline__ uint64_t dftracer_hash_(uint64_t hash, const char *text)
{
    for (; text && *text; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return hash;
}

/* The offset basis is DFTracer's own, a digit short of the usual one. 0 is DFT_ENTITY_NONE. */
static __inline__ EntityID dftracer_entity_id_(ConstEntityTypeName type, ConstEntityKey key)
{
    uint64_t hash = dftracer_hash_(dftracer_hash_(dftracer_hash_(1469598103934665603u, type), "\x1f"), key);

    return hash ? hash : 1;
}

static __inline__ void dftracer_hex_(EntityID id, char text[17])
{
    int i;

    for (i = 0; i < 16; i++)
        text[i] = "0123456789abcdef"[id >> (60 - 4 * i) & 15];
    text[16] = 0;
}

static __inline__ void dftracer_declare_(struct dftrace_site *site, const struct dftrace_arg *args, uint32_t count)
{
    DFTRACE_API_;

    if (DFTRACE_HAS_(metadata_args))
        dftrace_api_->metadata_args(site, args, count);
}

/* Declares an entity; `uri` may be NULL. Returns its id, or DFT_ENTITY_NONE where nothing is
 * traced. An entity that a loop declares again and again is written once: the last few declarations are
 * remembered. */
static __inline__ EntityID dftracer_declare_entity(ConstEntityTypeName type, ConstEntityKey key, EntityStore store,
                                                   ConstEntityURI uri)
{
    static struct dftrace_site site = {"dftracer", "EH", 0};
    static EntityID declared[64];
    struct dftrace_arg args[5];
    uint32_t count = 3;
    char hex[17];
    EntityID id, mark;

    if (!dftrace_enabled())
        return DFT_ENTITY_NONE;
    id = dftracer_entity_id_(type, key);
    mark = dftracer_hash_(id + (uint64_t)store, uri);
    if (__atomic_exchange_n(&declared[mark % 64], mark, __ATOMIC_RELAXED) == mark)
        return id;
    dftracer_hex_(id, hex);
    args[0] = dftrace_string("id", hex);
    args[1] = dftrace_string("type", type ? type : "");
    args[2] = dftrace_int("store", store);
    if (uri)
        args[count++] = dftrace_string("uri", uri);
    if (key)
        args[count++] = dftrace_string("key", key);
    dftracer_declare_(&site, args, count);
    return id;
}

/* Says what all entities of a type are. */
static __inline__ void dftracer_declare_entity_type(ConstEntityTypeName type, EntityRole role,
                                                    ConstEntityDescription description)
{
    static struct dftrace_site site = {"dftracer", "ET", 0};
    struct dftrace_arg args[3];

    args[0] = dftrace_string("type", type ? type : "");
    args[1] = dftrace_int("role", role);
    args[2] = dftrace_string("description", description);
    dftracer_declare_(&site, args, description ? 3 : 2);
}

/* Relates two entities. Relations of regions (below 16) and entities that are none are ignored. */
static __inline__ void dftracer_relate_entities(EntityRelation relation, EntityID subject, EntityID object)
{
    static struct dftrace_site site = {"dftracer", "ER", 0};
    struct dftrace_arg args[3];
    char left[17], right[17];

    if ((int)relation < 16 || !subject || !object)
        return;
    dftracer_hex_(subject, left);
    dftracer_hex_(object, right);
    args[0] = dftrace_int("relation", relation);
    args[1] = dftrace_string("subject", left);
    args[2] = dftrace_string("object", right);
    dftracer_declare_(&site, args, 3);
}

#ifdef __cplusplus
}
#endif

#endif
