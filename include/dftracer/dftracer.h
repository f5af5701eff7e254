/* SPDX-License-Identifier: MIT */
/* DFTracer's C and C++ annotations on top of dftrace.h: programs that are written for them, 1.x or
 * 2.x, compile unchanged, and need not link anything.
 *
 * INIT and FINI may be left out. A program that is linked with the library and started without
 * LD_PRELOAD says with INIT where the trace goes and what is traced (NULL: the environment's); one
 * that is preloaded takes both from the environment. DFTRACER_ENABLE=1 is needed either way. FINI
 * sees to it that everything so far is in the file; what comes after it is recorded as well.
 * Regions that are not ended end with their scope. No call allocates; values are copied; integers
 * have 64 bits, and there are doubles. */
#ifndef DFTRACER_DFTRACER_H
#define DFTRACER_DFTRACER_H

#include <dftrace/dftrace.h>
#include <dftracer/entity.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DF_DATA_EVENT     0
#define DF_METADATA_EVENT 1

typedef const char *ConstEventNameType;

__attribute__((unused)) static ConstEventNameType C_LOG_CATEGORY = "C_APP";

/* --- the whole process ------------------------------------------------------------------------ */

static __inline__ void dftracer_init_(const char *log_file, const char *data_dirs, const int *process_id, int bind)
{
    DFTRACE_API_;

    if (DFTRACE_HAS_(init))
        dftrace_api_->init(log_file, data_dirs, process_id, bind);
}

static __inline__ void initialize_main(const char *log_file, const char *data_dirs, int *process_id)
{
    dftracer_init_(log_file, data_dirs, process_id, 1);
}

static __inline__ void initialize_no_bind(const char *log_file, const char *data_dirs, int *process_id)
{
    dftracer_init_(log_file, data_dirs, process_id, 0);
}

static __inline__ void finalize(void)
{
    DFTRACE_FLUSH();
}

static __inline__ void set_app_metadata_int(const char *key, int value)
{
    DFTRACE_METADATA_INT(key, value);
}

static __inline__ void set_app_metadata_string(const char *key, const char *value)
{
    DFTRACE_METADATA(key, value);
}

/* A part of the application that was in use: metadata "used" of category "dftracer". */
static __inline__ void mark_used(const char *name)
{
    DFTRACE_METADATA_("dftracer", dftrace_string("used", name));
}

/* --- regions ---------------------------------------------------------------------------------- */

/* A pointer to it is what names an open region: not an address, but the id of its name. NULL:
 * nothing is traced. */
struct DFTracerData {
    void *profiler;
};

static __inline__ struct DFTracerData *dftracer_begin_(struct dftrace_site *site)
{
    DFTRACE_API_;

    if (!DFTRACE_HAS_(region_end_id))
        return 0;
    dftrace_api_->region_begin(site);
    return (struct DFTracerData *)(uintptr_t)__atomic_load_n(&site->id, __ATOMIC_RELAXED);
}

static __inline__ void finalize_region(struct DFTracerData *data)
{
    DFTRACE_API_;

    if (data && DFTRACE_HAS_(region_end_id))
        dftrace_api_->region_end_id((uint64_t)(uintptr_t)data);
}

static __inline__ void finalize_region_cleanup(struct DFTracerData **data)
{
    finalize_region(*data);
    *data = 0;
}

/* With DF_METADATA_EVENT there is no region: `name` is a key and `cat` its value. */
static __inline__ struct DFTracerData *initialize_region(ConstEventNameType name, ConstEventNameType cat,
                                                         int event_type)
{
    struct dftrace_site site = {0, 0, 0};

    if (event_type == DF_METADATA_EVENT) {
        DFTRACE_METADATA(name, cat);
        return 0;
    }
    site.category = cat;
    site.name = name;
    return dftracer_begin_(&site);
}

/* Of that region, which need not be the innermost one. */
static __inline__ void dftracer_update_(struct DFTracerData *data, struct dftrace_arg arg)
{
    DFTRACE_API_;

    if (data && DFTRACE_HAS_(arg_of_id))
        dftrace_api_->arg_of_id((uint64_t)(uintptr_t)data, &arg);
}

static __inline__ void update_metadata_int(struct DFTracerData *data, const char *key, int value)
{
    dftracer_update_(data, dftrace_int(key, value));
}

static __inline__ void update_metadata_string(struct DFTracerData *data, const char *key, const char *value)
{
    dftracer_update_(data, dftrace_string(key, value));
}

/* The type of a value (a key, a value, neither) means nothing here. */
static __inline__ void update_metadata_int_type(struct DFTracerData *data, const char *key, int value, int type)
{
    (void)type;
    update_metadata_int(data, key, value);
}

static __inline__ void update_metadata_string_type(struct DFTracerData *data, const char *key, const char *value,
                                                   int type)
{
    (void)type;
    update_metadata_string(data, key, value);
}

/* Relates an open region to an entity. Relations between entities (from 16 on) are ignored. */
static __inline__ void update_relation(struct DFTracerData *data, EntityRelation relation, EntityID entity)
{
    const char *name = dftracer_relation_(relation);
    char key[32];
    size_t n;

    if (!data || !name || !entity)
        return;
    for (n = 0; name[n]; n++)
        key[n] = name[n];
    key[n] = ':';
    dftracer_hex_(entity, key + n + 1);
    dftracer_update_(data, dftrace_int(key, 1));
}

/* Declares the entity as well. Returns its id. */
static __inline__ EntityID update_relation_entity(struct DFTracerData *data, EntityRelation relation,
                                                  ConstEntityTypeName type, ConstEntityKey key, EntityStore store,
                                                  ConstEntityURI uri)
{
    EntityID entity = dftracer_declare_entity(type, key, store, uri);

    update_relation(data, relation, entity);
    return entity;
}

/* --- C ---------------------------------------------------------------------------------------- */

#define DFTRACER_START_(variable, category, name)                                                                      \
    static struct dftrace_site variable##_site = {category, name, 0};                                                  \
    struct DFTracerData *variable __attribute__((cleanup(finalize_region_cleanup), unused)) =                          \
        dftracer_begin_(&variable##_site);

#define DFTRACER_C_INIT(log_file, data_dirs, process_id)         initialize_main(log_file, data_dirs, process_id);
#define DFTRACER_C_INIT_NO_BIND(log_file, data_dirs, process_id) initialize_no_bind(log_file, data_dirs, process_id);
#define DFTRACER_C_FINI()                                        finalize()
#define DFTRACER_C_APP_METADATA_INT(key, val)                    DFTRACE_METADATA_INT(key, val);
#define DFTRACER_C_APP_METADATA_STR(key, val)                    set_app_metadata_string(key, val);
#define DFTRACER_C_MARK_USED(name)                               mark_used(name);
#define DFTRACER_C_METADATA(name, key, val)                      DFTRACE_METADATA(key, val);

#define DFTRACER_C_FUNCTION_START()   DFTRACER_START_(data_fn, "C_APP", __func__)
#define DFTRACER_C_FUNCTION_END()     finalize_region_cleanup(&data_fn);
#define DFTRACER_C_REGION_START(name) DFTRACER_START_(data_##name, "C_APP", #name)
#define DFTRACER_C_REGION_END(name)   finalize_region_cleanup(&data_##name);

#define DFTRACER_C_FUNCTION_UPDATE_INT(key, val)     dftracer_update_(data_fn, dftrace_int(key, (int64_t)(val)));
#define DFTRACER_C_FUNCTION_UPDATE_STR(key, val)     update_metadata_string(data_fn, key, val);
#define DFTRACER_C_FUNCTION_UPDATE_DOUBLE(key, val)  dftracer_update_(data_fn, dftrace_double(key, (double)(val)));
#define DFTRACER_C_REGION_UPDATE_INT(name, key, val) dftracer_update_(data_##name, dftrace_int(key, (int64_t)(val)));
#define DFTRACER_C_REGION_UPDATE_STR(name, key, val) update_metadata_string(data_##name, key, val);
#define DFTRACER_C_REGION_UPDATE_DOUBLE(name, key, val)                                                                \
    dftracer_update_(data_##name, dftrace_double(key, (double)(val)));
#define DFTRACER_C_FUNCTION_UPDATE_INT_TYPE(key, val, type)     DFTRACER_C_FUNCTION_UPDATE_INT(key, val)
#define DFTRACER_C_FUNCTION_UPDATE_STR_TYPE(key, val, type)     DFTRACER_C_FUNCTION_UPDATE_STR(key, val)
#define DFTRACER_C_REGION_UPDATE_INT_TYPE(name, key, val, type) DFTRACER_C_REGION_UPDATE_INT(name, key, val)
#define DFTRACER_C_REGION_UPDATE_STR_TYPE(name, key, val, type) DFTRACER_C_REGION_UPDATE_STR(name, key, val)

#define DFTRACER_C_ENTITY(type, key, store, uri)            dftracer_declare_entity(type, key, store, uri)
#define DFTRACER_C_ENTITY_TYPE(type, role, description)     dftracer_declare_entity_type(type, role, description);
#define DFTRACER_C_ENTITY_RELATE(relation, subject, object) dftracer_relate_entities(relation, subject, object);
#define DFTRACER_C_FUNCTION_RELATE(relation, entity)        update_relation(data_fn, relation, entity);
#define DFTRACER_C_FUNCTION_USES(type, key)                                                                            \
    update_relation_entity(data_fn, DFT_REL_USED, type, key, DFT_STORE_MEMORY, 0);
#define DFTRACER_C_FUNCTION_GENERATES(type, key)                                                                       \
    update_relation_entity(data_fn, DFT_REL_GENERATED, type, key, DFT_STORE_MEMORY, 0);
#define DFTRACER_C_REGION_RELATE(name, relation, entity) update_relation(data_##name, relation, entity);

#ifdef __cplusplus
}
#include <dftracer/scope.h>
#endif

#endif
