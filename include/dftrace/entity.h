/* SPDX-License-Identifier: MIT */
/* Entities beside dftrace.h: what regions use and make, for `dftmerge lineage`.
 *
 *     DFTRACE_BEGIN("train");
 *     DFTRACE_USES("shard", "train-0007");
 *     DFTRACE_GENERATES("checkpoint", "epoch-3");
 *     DFTRACE_END("train");
 *
 * An entity is a type and a key. Relations are of the innermost open region of this thread. Any
 * number of them is kept. The same ids and records as those of DFTracer's macros, so programs and
 * languages may mix both. */
#ifndef DFTRACE_ENTITY_H
#define DFTRACE_ENTITY_H

#include <dftracer/entity.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Says where an entity is: `uri` may be NULL. Returns its id, 0 where nothing is traced. */
static __inline__ EntityID dftrace_entity(const char *type, const char *key, const char *uri)
{
    return dftracer_declare_entity(type, key, DFT_STORE_OTHER, uri);
}

/* Relates two entities: DFT_REL_DERIVED_FROM to DFT_REL_DEPENDS_ON, as in "subject was derived from
 * object". */
static __inline__ void dftrace_entity_relate(EntityRelation relation, EntityID subject, EntityID object)
{
    dftracer_relate_entities(relation, subject, object);
}

static __inline__ void dftrace_relate_(EntityRelation relation, const char *type, const char *key)
{
    EntityID id = dftracer_declare_entity(type, key, DFT_STORE_OTHER, 0);
    const char *name = dftracer_relation_(relation);
    char text[32];
    size_t n;

    if (!id || !name)
        return;
    for (n = 0; name[n]; n++)
        text[n] = name[n];
    text[n] = ':';
    dftracer_hex_(id, text + n + 1);
    DFTRACE_ARG_INT(text, 1);
}

#define DFTRACE_USES(type, key)        dftrace_relate_(DFT_REL_USED, type, key)
#define DFTRACE_GENERATES(type, key)   dftrace_relate_(DFT_REL_GENERATED, type, key)
#define DFTRACE_UPDATES(type, key)     dftrace_relate_(DFT_REL_UPDATED, type, key)
#define DFTRACE_INVALIDATES(type, key) dftrace_relate_(DFT_REL_INVALIDATED, type, key)

#ifdef __cplusplus
}
#endif

#endif
