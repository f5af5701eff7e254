/* SPDX-License-Identifier: MIT */
/* DFTracer's C++ annotations: regions that end with their scope. Included by dftracer.h, for C++
 * alone. */
#ifndef DFTRACER_SCOPE_H
#define DFTRACER_SCOPE_H

#include <dftracer/dftracer.h>

__attribute__((unused)) static ConstEventNameType CPP_LOG_CATEGORY = "CPP_APP";

/* What a value is to DFTracer's analysis, and who makes an event: accepted, without a meaning
 * here. */
enum MetadataType { MT_KEY = 0, MT_VALUE = 1, MT_IGNORE = 2 };
enum TraceEventType { TRACE_TYPE_C_APP = 2, TRACE_TYPE_CPP_APP = 9 };

class DFTracer
{
    struct DFTracerData *data_;

  public:
    explicit DFTracer(struct dftrace_site *site) : data_(dftracer_begin_(site)) {}
    DFTracer(ConstEventNameType name, ConstEventNameType category, int event_type = DF_DATA_EVENT,
             TraceEventType = TRACE_TYPE_CPP_APP)
        : data_(initialize_region(name, category, event_type))
    {
    }
    DFTracer(DFTracer &&other) noexcept : data_(other.data_)
    {
        other.data_ = nullptr;
    }
    DFTracer(const DFTracer &) = delete;
    DFTracer &operator=(const DFTracer &) = delete;
    ~DFTracer()
    {
        finalize();
    }
    void finalize()
    {
        finalize_region_cleanup(&data_);
    }
    template <typename T> void update(const char *key, T value, MetadataType = MT_KEY)
    {
        dftracer_update_(data_, dftrace::make_arg(key, value));
    }

    /* Returns the entity. */
    EntityID relate(EntityRelation relation, EntityID entity)
    {
        update_relation(data_, relation, entity);
        return entity;
    }
    EntityID relate(EntityRelation relation, ConstEntityTypeName type, ConstEntityKey key,
                    EntityStore store = DFT_STORE_MEMORY, ConstEntityURI uri = nullptr)
    {
        return update_relation_entity(data_, relation, type, key, store, uri);
    }
    EntityID uses(ConstEntityTypeName type, ConstEntityKey key, EntityStore store = DFT_STORE_MEMORY,
                  ConstEntityURI uri = nullptr)
    {
        return relate(DFT_REL_USED, type, key, store, uri);
    }
    EntityID generates(ConstEntityTypeName type, ConstEntityKey key, EntityStore store = DFT_STORE_MEMORY,
                       ConstEntityURI uri = nullptr)
    {
        return relate(DFT_REL_GENERATED, type, key, store, uri);
    }
};

#define DFTRACER_CPP_START_(variable, name)                                                                            \
    static struct dftrace_site variable##_site = {"CPP_APP", name, 0};                                                 \
    DFTracer variable(&variable##_site);

#define DFTRACER_CPP_INIT(log_file, data_dirs, process_id)         initialize_main(log_file, data_dirs, process_id);
#define DFTRACER_CPP_INIT_NO_BIND(log_file, data_dirs, process_id) initialize_no_bind(log_file, data_dirs, process_id);
#define DFTRACER_CPP_FINI()                                        finalize()
#define DFTRACER_CPP_APP_METADATA_INT(key, val)                    DFTRACE_METADATA_INT(key, val);
#define DFTRACER_CPP_APP_METADATA_STR(key, val)                    set_app_metadata_string(key, val);
#define DFTRACER_CPP_MARK_USED(name)                               mark_used(name);
#define DFTRACER_CPP_METADATA(name, key, value)                    DFTRACE_METADATA(key, value);

#define DFTRACER_CPP_FUNCTION()                                   DFTRACER_CPP_START_(profiler_dft_fn, __FUNCTION__)
#define DFTRACER_CPP_REGION(name)                                 DFTRACER_CPP_START_(profiler_##name, #name)
#define DFTRACER_CPP_REGION_START(name)                           DFTRACER_CPP_START_(profiler_##name, #name)
#define DFTRACER_CPP_REGION_END(name)                             profiler_##name.finalize()
#define DFTRACER_CPP_FUNCTION_UPDATE(key, val)                    profiler_dft_fn.update(key, val);
#define DFTRACER_CPP_REGION_UPDATE(name, key, val)                profiler_##name.update(key, val);
#define DFTRACER_CPP_REGION_DYN_UPDATE(name, key, val)            profiler_##name.update(key, val);
#define DFTRACER_CPP_FUNCTION_UPDATE_TYPE(key, val, type)         DFTRACER_CPP_FUNCTION_UPDATE(key, val)
#define DFTRACER_CPP_REGION_UPDATE_TYPE(name, key, val, type)     DFTRACER_CPP_REGION_UPDATE(name, key, val)
#define DFTRACER_CPP_REGION_DYN_UPDATE_TYPE(name, key, val, type) DFTRACER_CPP_REGION_DYN_UPDATE(name, key, val)

#define DFTRACER_CPP_ENTITY(type, key, store, uri)             dftracer_declare_entity(type, key, store, uri)
#define DFTRACER_CPP_ENTITY_TYPE(type, role, description)      dftracer_declare_entity_type(type, role, description);
#define DFTRACER_CPP_ENTITY_RELATE(relation, subject, object)  dftracer_relate_entities(relation, subject, object);
#define DFTRACER_CPP_FUNCTION_RELATE(relation, entity)         profiler_dft_fn.relate(relation, entity);
#define DFTRACER_CPP_FUNCTION_USES(type, key)                  profiler_dft_fn.uses(type, key);
#define DFTRACER_CPP_FUNCTION_GENERATES(type, key)             profiler_dft_fn.generates(type, key);
#define DFTRACER_CPP_REGION_RELATE(name, relation, entity)     profiler_##name.relate(relation, entity);
#define DFTRACER_CPP_REGION_DYN_RELATE(name, relation, entity) profiler_##name.relate(relation, entity);

#endif
