/* DFTracer's C and C++ annotations on top of dftrace.h: programs that are written for them compile unchanged, and need not link anything.
 *
 * INIT and FINI may be left out. A program that is linked with the library and started without LD_PRELOAD says with INIT where the trace goes
 * and what is traced (NULL: the environment's); one that is preloaded has been told by the environment. DFTRACER_ENABLE=1 is needed
 * either way. FINI sees to it that everything so far is in the file; what comes after it is recorded as well.
 * Regions that are not ended end with their scope. No call allocates; values are copied; integers have 64 bits, and there are doubles. */
#ifndef DFTRACER_DFTRACER_H
#define DFTRACER_DFTRACER_H

#include <dftrace/dftrace.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DFTRACER_INIT_(log_file, data_dirs, process_id, bind)                                                          \
    do {                                                                                                               \
        DFTRACE_API_;                                                                                                  \
        if (DFTRACE_HAS_(init))                                                                                        \
            dftrace_api_->init(log_file, data_dirs, process_id, bind);                                                 \
    } while (0);

static __inline__ struct dftrace_site *dftracer_begin_(struct dftrace_site *site)
{
    DFTRACE_API_;

    if (dftrace_api_)
        dftrace_api_->region_begin(site);
    return site;
}

static __inline__ void dftracer_end_(struct dftrace_site **site)
{
    DFTRACE_API_;

    if (dftrace_api_ && *site)
        dftrace_api_->region_end(*site);
    *site = 0;
}

/* Of that region, which need not be the innermost one. */
static __inline__ void dftracer_update_(struct dftrace_site *site, struct dftrace_arg arg)
{
    DFTRACE_API_;

    if (site && DFTRACE_HAS_(arg_of))
        dftrace_api_->arg_of(site, &arg);
}

#define DFTRACER_START_(variable, category, name)                                                                      \
    static struct dftrace_site variable##_site = {category, name, 0};                                                  \
    struct dftrace_site *variable __attribute__((cleanup(dftracer_end_), unused)) = dftracer_begin_(&variable##_site);

/* --- C ------------------------------------------------------------------------------------------------------------- */

#define DFTRACER_C_INIT(log_file, data_dirs, process_id)         DFTRACER_INIT_(log_file, data_dirs, process_id, 1)
#define DFTRACER_C_INIT_NO_BIND(log_file, data_dirs, process_id) DFTRACER_INIT_(log_file, data_dirs, process_id, 0)
#define DFTRACER_C_FINI()                                        DFTRACE_FLUSH()

#define DFTRACER_C_FUNCTION_START()         DFTRACER_START_(dftracer_function_, "C_APP", __func__)
#define DFTRACER_C_FUNCTION_END()           dftracer_end_(&dftracer_function_);
#define DFTRACER_C_REGION_START(name)       DFTRACER_START_(dftracer_data_##name, "C_APP", #name)
#define DFTRACER_C_REGION_END(name)         dftracer_end_(&dftracer_data_##name);
#define DFTRACER_C_METADATA(name, key, val) DFTRACE_METADATA(key, val);

#define DFTRACER_C_FUNCTION_UPDATE_INT(key, val) dftracer_update_(dftracer_function_, dftrace_int(key, (int64_t)(val)));
#define DFTRACER_C_FUNCTION_UPDATE_STR(key, val) dftracer_update_(dftracer_function_, dftrace_string(key, val));
#define DFTRACER_C_REGION_UPDATE_INT(name, key, val)                                                                   \
    dftracer_update_(dftracer_data_##name, dftrace_int(key, (int64_t)(val)));
#define DFTRACER_C_REGION_UPDATE_STR(name, key, val) dftracer_update_(dftracer_data_##name, dftrace_string(key, val));
#define DFTRACER_C_FUNCTION_UPDATE_DOUBLE(key, val)                                                                    \
    dftracer_update_(dftracer_function_, dftrace_double(key, (double)(val)));
#define DFTRACER_C_REGION_UPDATE_DOUBLE(name, key, val)                                                                \
    dftracer_update_(dftracer_data_##name, dftrace_double(key, (double)(val)));

/* Of later versions: what is said of the whole process, and types of values that mean nothing here. */
#define DFTRACER_C_APP_METADATA_INT(key, val)                   DFTRACE_METADATA_INT(key, val);
#define DFTRACER_C_APP_METADATA_STR(key, val)                   DFTRACE_METADATA(key, val);
#define DFTRACER_C_FUNCTION_UPDATE_INT_TYPE(key, val, type)     DFTRACER_C_FUNCTION_UPDATE_INT(key, val)
#define DFTRACER_C_FUNCTION_UPDATE_STR_TYPE(key, val, type)     DFTRACER_C_FUNCTION_UPDATE_STR(key, val)
#define DFTRACER_C_REGION_UPDATE_INT_TYPE(name, key, val, type) DFTRACER_C_REGION_UPDATE_INT(name, key, val)
#define DFTRACER_C_REGION_UPDATE_STR_TYPE(name, key, val, type) DFTRACER_C_REGION_UPDATE_STR(name, key, val)

#ifdef __cplusplus
}

/* --- C++ ----------------------------------------------------------------------------------------------------------- */

namespace dftrace
{
class tracked
{
    struct dftrace_site *site_;

  public:
    explicit tracked(struct dftrace_site *site) : site_(dftracer_begin_(site)) {}
    ~tracked()
    {
        end();
    }
    tracked(const tracked &) = delete;
    tracked &operator=(const tracked &) = delete;
    void end()
    {
        dftracer_end_(&site_);
    }
    template <typename T> void update(const char *key, T value)
    {
        dftracer_update_(site_, make_arg(key, value));
    }
};
} /* namespace dftrace */

#define DFTRACER_CPP_START_(variable, name)                                                                            \
    static struct dftrace_site variable##_site = {"CPP_APP", name, 0};                                                 \
    dftrace::tracked variable(&variable##_site);

#define DFTRACER_CPP_INIT(log_file, data_dirs, process_id)         DFTRACER_INIT_(log_file, data_dirs, process_id, 1)
#define DFTRACER_CPP_INIT_NO_BIND(log_file, data_dirs, process_id) DFTRACER_INIT_(log_file, data_dirs, process_id, 0)
#define DFTRACER_CPP_FINI()                                        DFTRACE_FLUSH()

#define DFTRACER_CPP_FUNCTION()                        DFTRACER_CPP_START_(profiler_dft_fn, __FUNCTION__)
#define DFTRACER_CPP_METADATA(name, key, value)        DFTRACE_METADATA(key, value);
#define DFTRACER_CPP_REGION(name)                      DFTRACER_CPP_START_(profiler_##name, #name)
#define DFTRACER_CPP_REGION_START(name)                DFTRACER_CPP_START_(profiler_##name, #name)
#define DFTRACER_CPP_REGION_END(name)                  profiler_##name.end()
#define DFTRACER_CPP_FUNCTION_UPDATE(key, val)         profiler_dft_fn.update(key, val);
#define DFTRACER_CPP_REGION_UPDATE(name, key, val)     profiler_##name.update(key, val);
#define DFTRACER_CPP_REGION_DYN_UPDATE(name, key, val) profiler_##name.update(key, val);

#define DFTRACER_CPP_APP_METADATA_INT(key, val)                   DFTRACE_METADATA_INT(key, val);
#define DFTRACER_CPP_APP_METADATA_STR(key, val)                   DFTRACE_METADATA(key, val);
#define DFTRACER_CPP_FUNCTION_UPDATE_TYPE(key, val, type)         DFTRACER_CPP_FUNCTION_UPDATE(key, val)
#define DFTRACER_CPP_REGION_UPDATE_TYPE(name, key, val, type)     DFTRACER_CPP_REGION_UPDATE(name, key, val)
#define DFTRACER_CPP_REGION_DYN_UPDATE_TYPE(name, key, val, type) DFTRACER_CPP_REGION_DYN_UPDATE(name, key, val)
#endif

#endif
