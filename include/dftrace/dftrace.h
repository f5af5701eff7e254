/* dftrace: annotations for C and C++. Include and use; nothing needs linking.
 *
 * When the program runs under libdftrace.so with tracing on, regions, instants, counters and metadata become events beside the
 * I/O calls, and every call knows the innermost region of its thread. Otherwise each macro costs a load and a branch.
 *
 *     void step(void)
 *     {
 *         DFTRACE_REGION("step");                  // until the end of the scope
 *         DFTRACE_ARG_INT("epoch", 3);             // an argument of the innermost open region
 *         DFTRACE_BEGIN("load"); ... DFTRACE_END("load");
 *         DFTRACE_COUNTER("queue_depth", 17);
 *     }
 *
 * Names are copied at their first use at a call site; they need not be literals for the _DYN forms. All functions may be called from any
 * thread and from signal handlers; they keep errno, allocate nothing and never block. A region belongs to the thread that began it; an end without
 * a begin is ignored; regions that are still open when an outer one ends are ended with it. Those that are open when their thread or
 * process ends, end there; their argument "ended_by" says so. */
#ifndef DFTRACE_H
#define DFTRACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DFTRACE_API_VERSION 1

/* One place in a program that makes events. Zero-initialised but for the names; `id` is filled in at the first use. */
struct dftrace_site {
    const char *category; /* NULL: "APP" */
    const char *name;
    uint64_t id;
};

/* What libdftrace.so exports. Fields are only ever added at the end; `size` says how many there are. */
struct dftrace_api {
    uint32_t version, size;
    int enabled; /* nothing below does anything while it is 0 */
    void (*region_begin)(struct dftrace_site *site);
    void (*region_end)(struct dftrace_site *site);
    void (*instant)(struct dftrace_site *site);
    void (*counter_int)(struct dftrace_site *site, int64_t value);
    void (*counter_double)(struct dftrace_site *site, double value);
    void (*metadata)(const char *key, const char *value);
    void (*arg_int)(const char *key, int64_t value);
    void (*arg_double)(const char *key, double value);
    void (*arg_string)(const char *key, const char *value);
    void (*thread_name)(const char *name);
};

#if (defined(__x86_64__) && defined(__LP64__)) || defined(__aarch64__)
/* The address of the library's symbol from the global offset table, NULL without the library. Written in assembly because for
 * a position-dependent program the compiler and linker would settle a weak symbol at link time. */
static inline const struct dftrace_api *dftrace_find(void)
{
    const struct dftrace_api *api;
#if defined(__x86_64__)
    __asm__(".weak dftrace_api_v1\n\tmovq dftrace_api_v1@GOTPCREL(%%rip), %0" : "=r"(api));
#else
    __asm__(".weak dftrace_api_v1\n\tadrp %0, :got:dftrace_api_v1\n\tldr %0, [%0, :got_lo12:dftrace_api_v1]"
            : "=r"(api));
#endif
    return api;
}
#else
extern const struct dftrace_api dftrace_api_v1 __attribute__((weak));
static inline const struct dftrace_api *dftrace_find(void)
{
    return &dftrace_api_v1;
}
#endif

/* The library if it is there and tracing is on, else NULL. */
static inline const struct dftrace_api *dftrace_get(void)
{
    const struct dftrace_api *api = dftrace_find();

    return __builtin_expect(api != 0, 0) && api->enabled ? api : 0;
}

static inline int dftrace_enabled(void)
{
    return dftrace_get() != 0;
}

#define DFTRACE_CALL_(function, ...)                                                                                   \
    do {                                                                                                               \
        const struct dftrace_api *dftrace_api_ = dftrace_get();                                                        \
        if (dftrace_api_)                                                                                              \
            dftrace_api_->function(__VA_ARGS__);                                                                       \
    } while (0)
#define DFTRACE_SITE_CALL_(function, category_, name_, ...)                                                            \
    do {                                                                                                               \
        const struct dftrace_api *dftrace_api_ = dftrace_get();                                                        \
        if (dftrace_api_) {                                                                                            \
            static struct dftrace_site dftrace_site_ = {category_, name_, 0};                                          \
            dftrace_api_->function(&dftrace_site_ __VA_ARGS__);                                                        \
        }                                                                                                              \
    } while (0)
#define DFTRACE_COMMA_ ,

/* Regions by hand: begin and end in one thread, properly nested. */
#define DFTRACE_BEGIN(name)               DFTRACE_SITE_CALL_(region_begin, 0, name, )
#define DFTRACE_END(name)                 DFTRACE_SITE_CALL_(region_end, 0, name, )
#define DFTRACE_BEGIN_CAT(category, name) DFTRACE_SITE_CALL_(region_begin, category, name, )
#define DFTRACE_END_CAT(category, name)   DFTRACE_SITE_CALL_(region_end, category, name, )

/* The same with a name that is known at run time only. */
static inline void dftrace_region_begin(const char *category, const char *name)
{
    struct dftrace_site site = {category, name, 0};

    DFTRACE_CALL_(region_begin, &site);
}

static inline void dftrace_region_end(const char *category, const char *name)
{
    struct dftrace_site site = {category, name, 0};

    DFTRACE_CALL_(region_end, &site);
}

#define DFTRACE_INSTANT(name)               DFTRACE_SITE_CALL_(instant, 0, name, )
#define DFTRACE_COUNTER(name, value)        DFTRACE_SITE_CALL_(counter_int, 0, name, DFTRACE_COMMA_(int64_t)(value))
#define DFTRACE_COUNTER_DOUBLE(name, value) DFTRACE_SITE_CALL_(counter_double, 0, name, DFTRACE_COMMA_(double)(value))

/* Metadata of the process: key and value are copied. */
#define DFTRACE_METADATA(key, value) DFTRACE_CALL_(metadata, key, value)

/* Arguments of the innermost open region of this thread: recorded when it ends, with the last value of each key given by the order of calls. At
 * most 1 KiB of arguments a thread is kept; what does not fit is marked as cut. */
#define DFTRACE_ARG_INT(key, value)    DFTRACE_CALL_(arg_int, key, (int64_t)(value))
#define DFTRACE_ARG_DOUBLE(key, value) DFTRACE_CALL_(arg_double, key, (double)(value))
#define DFTRACE_ARG_STRING(key, value) DFTRACE_CALL_(arg_string, key, value)

#define DFTRACE_THREAD_NAME(name) DFTRACE_CALL_(thread_name, name)

/* A region to the end of the enclosing scope, however it is left. */
#define DFTRACE_PASTE__(a, b) a##b
#define DFTRACE_PASTE_(a, b)  DFTRACE_PASTE__(a, b)
#define DFTRACE_REGION(name)  DFTRACE_REGION_CAT(0, name)

#ifdef __cplusplus
}
namespace dftrace
{
class region
{
    struct dftrace_site *site_;

  public:
    explicit region(struct dftrace_site *site) : site_(site)
    {
        DFTRACE_CALL_(region_begin, site_);
    }
    ~region()
    {
        DFTRACE_CALL_(region_end, site_);
    }
    region(const region &) = delete;
    region &operator=(const region &) = delete;
};
} // namespace dftrace
#define DFTRACE_REGION_CAT(category_, name_)                                                                           \
    static struct dftrace_site DFTRACE_PASTE_(dftrace_site_, __LINE__) = {category_, name_, 0};                        \
    const dftrace::region DFTRACE_PASTE_(dftrace_region_, __LINE__)(&DFTRACE_PASTE_(dftrace_site_, __LINE__))
#else
static inline struct dftrace_site *dftrace_scope_begin_(struct dftrace_site *site)
{
    DFTRACE_CALL_(region_begin, site);
    return site;
}

static inline void dftrace_scope_end_(struct dftrace_site *const *site)
{
    DFTRACE_CALL_(region_end, *site);
}
#define DFTRACE_REGION_CAT(category_, name_)                                                                           \
    static struct dftrace_site DFTRACE_PASTE_(dftrace_site_, __LINE__) = {category_, name_, 0};                        \
    struct dftrace_site *const DFTRACE_PASTE_(dftrace_region_, __LINE__)                                               \
        __attribute__((cleanup(dftrace_scope_end_), unused)) =                                                         \
            dftrace_scope_begin_(&DFTRACE_PASTE_(dftrace_site_, __LINE__))
#endif

#endif
