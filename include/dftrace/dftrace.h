/* dftrace: annotations for C and C++. Include and use; nothing needs linking. C89 with GNU assembly to C23, C++11 to C++23.
 *
 * When the program runs under libdftrace.so with tracing on, regions, spans, flows, instants, counters and metadata become events
 * beside the I/O calls, and every call knows the innermost region of its thread. Otherwise each macro costs a load and a branch.
 *
 *     void step(void)
 *     {
 *         DFTRACE_REGION("step");                  -- until the end of the scope
 *         DFTRACE_ARG_INT("epoch", 3);             -- an argument of the innermost open region
 *         DFTRACE_BEGIN("load"); ... DFTRACE_END("load");
 *         DFTRACE_COUNTER("queue_depth", 17);
 *     }
 *
 * Names are copied at their first use at a call site; they need not be literals for the functions in small letters. All functions may be called
 * from any thread and from signal handlers; they keep errno, allocate nothing and never block (but for flush and pause, which write).
 *
 * REGIONS belong to the thread that began them and nest. An end without a begin is ignored; regions that are still open when an outer
 * one ends are ended with it; those that are open when their thread or process ends, end there, and their argument "ended_by" says so.
 * SPANS belong to no thread: they are begun by one, ended by the same or any other, and overlap. FLOWS are arrows between
 * what goes on at their points, which may lie in different threads and processes.
 * What was used wrongly is counted, and `dftmerge summary` and `dftmerge check` say it. NULL as a name is "(null)". */
#ifndef DFTRACE_H
#define DFTRACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DFTRACE_API_VERSION 1

/* One place in a program that makes events. Zero-initialised but for the names; `id` is filled in at the first use. */
struct dftrace_site {
    const char *category; /* NULL: "APP", of spans "ASYNC" */
    const char *name;
    uint64_t id;
};

/* A span, or a coroutine that goes on in one thread or another. Yours, wherever you like; it may be copied. All zeros: not begun. */
struct dftrace_span {
    uint64_t id; /* unique in the process */
    uint64_t name, parent, start;
};

/* An argument, for the forms that take several. */
struct dftrace_arg {
    const char *key;
    uint32_t type; /* 0 integer, 1 number, 2 string */
    uint32_t reserved;
    union {
        int64_t integer;
        double number;
        const char *string;
    } value;
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
    void (*region_begin_args)(struct dftrace_site *site, const struct dftrace_arg *args, uint32_t count);
    void (*region_end_args)(struct dftrace_site *site, const struct dftrace_arg *args, uint32_t count);
    void (*instant_args)(struct dftrace_site *site, const struct dftrace_arg *args, uint32_t count);
    void (*span_begin)(struct dftrace_span *span, struct dftrace_site *site, const struct dftrace_span *parent,
                       const struct dftrace_arg *args, uint32_t count);
    void (*span_end)(struct dftrace_span *span, const struct dftrace_arg *args, uint32_t count);
    void (*span_resume)(const struct dftrace_span *span);
    void (*span_suspend)(const struct dftrace_span *span);
    void (*async_begin)(struct dftrace_site *site, uint64_t id, const struct dftrace_arg *args, uint32_t count);
    void (*async_end)(struct dftrace_site *site, uint64_t id, const struct dftrace_arg *args, uint32_t count);
    void (*flow)(struct dftrace_site *site, uint64_t id, int what);
    uint64_t (*new_id)(void);
    void (*metadata_arg)(const char *scope, const struct dftrace_arg *arg);
    void (*pause)(int what);
    void (*resume)(int what);
    void (*flush)(void);
    void (*arg_of)(struct dftrace_site *site, const struct dftrace_arg *arg);
    void (*init)(const char *log_file, const char *data_dirs, const int *process_id, int bind);
};

#if (defined(__x86_64__) && defined(__LP64__)) || defined(__aarch64__)
/* The address of the library's symbol from the global offset table, NULL without the library. Written in assembly because for
 * a position-dependent program the compiler and linker would settle a weak symbol at link time. */
static __inline__ const struct dftrace_api *dftrace_find(void)
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
static __inline__ const struct dftrace_api *dftrace_find(void)
{
    return &dftrace_api_v1;
}
#endif

/* The library if it is there and tracing is on, else NULL. */
static __inline__ const struct dftrace_api *dftrace_get(void)
{
    const struct dftrace_api *api = dftrace_find();

    return __builtin_expect(api != 0, 0) && api->enabled ? api : 0;
}

static __inline__ int dftrace_enabled(void)
{
    return dftrace_get() != 0;
}

/* Is the library new enough for this function? */
#define DFTRACE_HAS_(function) (dftrace_api_ && dftrace_api_->size > offsetof(struct dftrace_api, function))
#define DFTRACE_API_           const struct dftrace_api *const dftrace_api_ = dftrace_get()
#define DFTRACE_SITE_(category_, name_)                                                                                \
    static struct dftrace_site dftrace_site_ = {category_, name_, 0};                                                  \
    DFTRACE_API_

/* --- regions: begin and end in one thread, properly nested -------------------------------------------------------- */

#define DFTRACE_BEGIN(name) DFTRACE_BEGIN_CAT(0, name)
#define DFTRACE_END(name)   DFTRACE_END_CAT(0, name)
#define DFTRACE_BEGIN_CAT(category, name)                                                                              \
    do {                                                                                                               \
        DFTRACE_SITE_(category, name);                                                                                 \
        if (dftrace_api_)                                                                                              \
            dftrace_api_->region_begin(&dftrace_site_);                                                                \
    } while (0)
#define DFTRACE_END_CAT(category, name)                                                                                \
    do {                                                                                                               \
        DFTRACE_SITE_(category, name);                                                                                 \
        if (dftrace_api_)                                                                                              \
            dftrace_api_->region_end(&dftrace_site_);                                                                  \
    } while (0)

/* The same with a name that is known at run time only. */
static __inline__ void dftrace_region_begin(const char *category, const char *name)
{
    DFTRACE_API_;

    if (dftrace_api_) {
        struct dftrace_site site = {0, 0, 0};

        site.category = category;
        site.name = name;
        dftrace_api_->region_begin(&site);
    }
}

static __inline__ void dftrace_region_end(const char *category, const char *name)
{
    DFTRACE_API_;

    if (dftrace_api_) {
        struct dftrace_site site = {0, 0, 0};

        site.category = category;
        site.name = name;
        dftrace_api_->region_end(&site);
    }
}

/* --- arguments ----------------------------------------------------------------------------------------------------- */

/* Of the innermost open region of this thread: recorded when it ends, with the last value of each key given by the order of calls. At
 * most 1 KiB of arguments a thread is kept; what does not fit is marked as cut. */
#define DFTRACE_ARG_INT(key, value)                                                                                    \
    do {                                                                                                               \
        DFTRACE_API_;                                                                                                  \
        if (dftrace_api_)                                                                                              \
            dftrace_api_->arg_int(key, (int64_t)(value));                                                              \
    } while (0)
#define DFTRACE_ARG_DOUBLE(key, value)                                                                                 \
    do {                                                                                                               \
        DFTRACE_API_;                                                                                                  \
        if (dftrace_api_)                                                                                              \
            dftrace_api_->arg_double(key, (double)(value));                                                            \
    } while (0)
#define DFTRACE_ARG_STRING(key, value)                                                                                 \
    do {                                                                                                               \
        DFTRACE_API_;                                                                                                  \
        if (dftrace_api_)                                                                                              \
            dftrace_api_->arg_string(key, value);                                                                      \
    } while (0)

/* Of the innermost open region with this name. */
#define DFTRACE_ARG_OF(name, arg)                                                                                      \
    do {                                                                                                               \
        DFTRACE_SITE_(0, name);                                                                                        \
        if (DFTRACE_HAS_(arg_of)) {                                                                                    \
            const struct dftrace_arg dftrace_arg_ = arg;                                                               \
            dftrace_api_->arg_of(&dftrace_site_, &dftrace_arg_);                                                       \
        }                                                                                                              \
    } while (0)

/* Arguments for the forms that take several: struct dftrace_arg args[] = {dftrace_int("a", 1), dftrace_string("b", text)} */
static __inline__ struct dftrace_arg dftrace_int(const char *key, int64_t value)
{
    struct dftrace_arg arg;

    arg.key = key;
    arg.type = 0;
    arg.reserved = 0;
    arg.value.integer = value;
    return arg;
}

static __inline__ struct dftrace_arg dftrace_double(const char *key, double value)
{
    struct dftrace_arg arg;

    arg.key = key;
    arg.type = 1;
    arg.reserved = 0;
    arg.value.number = value;
    return arg;
}

static __inline__ struct dftrace_arg dftrace_string(const char *key, const char *value)
{
    struct dftrace_arg arg;

    arg.key = key;
    arg.type = 2;
    arg.reserved = 0;
    arg.value.string = value;
    return arg;
}

#define DFTRACE_BEGIN_ARGS(name, args, count)                                                                          \
    do {                                                                                                               \
        DFTRACE_SITE_(0, name);                                                                                        \
        if (DFTRACE_HAS_(region_begin_args))                                                                           \
            dftrace_api_->region_begin_args(&dftrace_site_, args, (uint32_t)(count));                                  \
    } while (0)
#define DFTRACE_END_ARGS(name, args, count)                                                                            \
    do {                                                                                                               \
        DFTRACE_SITE_(0, name);                                                                                        \
        if (DFTRACE_HAS_(region_end_args))                                                                             \
            dftrace_api_->region_end_args(&dftrace_site_, args, (uint32_t)(count));                                    \
    } while (0)

/* --- moments ------------------------------------------------------------------------------------------------------- */

#define DFTRACE_INSTANT(name)                                                                                          \
    do {                                                                                                               \
        DFTRACE_SITE_(0, name);                                                                                        \
        if (dftrace_api_)                                                                                              \
            dftrace_api_->instant(&dftrace_site_);                                                                     \
    } while (0)
#define DFTRACE_INSTANT_ARGS(name, args, count)                                                                        \
    do {                                                                                                               \
        DFTRACE_SITE_(0, name);                                                                                        \
        if (DFTRACE_HAS_(instant_args))                                                                                \
            dftrace_api_->instant_args(&dftrace_site_, args, (uint32_t)(count));                                       \
    } while (0)
#define DFTRACE_COUNTER(name, value_)                                                                                  \
    do {                                                                                                               \
        DFTRACE_SITE_(0, name);                                                                                        \
        if (dftrace_api_)                                                                                              \
            dftrace_api_->counter_int(&dftrace_site_, (int64_t)(value_));                                              \
    } while (0)
#define DFTRACE_COUNTER_DOUBLE(name, value_)                                                                           \
    do {                                                                                                               \
        DFTRACE_SITE_(0, name);                                                                                        \
        if (dftrace_api_)                                                                                              \
            dftrace_api_->counter_double(&dftrace_site_, (double)(value_));                                            \
    } while (0)

/* --- metadata: key and value are copied --------------------------------------------------------------------------- */

#define DFTRACE_METADATA(key, value)                                                                                   \
    do {                                                                                                               \
        DFTRACE_API_;                                                                                                  \
        if (dftrace_api_)                                                                                              \
            dftrace_api_->metadata(key, value);                                                                        \
    } while (0)
#define DFTRACE_METADATA_(scope, arg_)                                                                                 \
    do {                                                                                                               \
        DFTRACE_API_;                                                                                                  \
        if (DFTRACE_HAS_(metadata_arg)) {                                                                              \
            const struct dftrace_arg dftrace_arg_ = arg_;                                                              \
            dftrace_api_->metadata_arg(scope, &dftrace_arg_);                                                          \
        }                                                                                                              \
    } while (0)
#define DFTRACE_METADATA_INT(key, value)        DFTRACE_METADATA_(0, dftrace_int(key, (int64_t)(value)))
#define DFTRACE_METADATA_DOUBLE(key, value)     DFTRACE_METADATA_(0, dftrace_double(key, (double)(value)))
/* Of the whole job: what each of its processes says in the same way (category "JOB"). */
#define DFTRACE_JOB_METADATA(key, value)        DFTRACE_METADATA_("JOB", dftrace_string(key, value))
#define DFTRACE_JOB_METADATA_INT(key, value)    DFTRACE_METADATA_("JOB", dftrace_int(key, (int64_t)(value)))
#define DFTRACE_JOB_METADATA_DOUBLE(key, value) DFTRACE_METADATA_("JOB", dftrace_double(key, (double)(value)))

#define DFTRACE_THREAD_NAME(name)                                                                                      \
    do {                                                                                                               \
        DFTRACE_API_;                                                                                                  \
        if (dftrace_api_)                                                                                              \
            dftrace_api_->thread_name(name);                                                                           \
    } while (0)

/* --- spans --------------------------------------------------------------------------------------------------------- */

/* `span`: struct dftrace_span *, which is filled in; `parent`: another one, or NULL. */
#define DFTRACE_SPAN_BEGIN(span, name)         DFTRACE_SPAN_BEGIN_ARGS(span, 0, name, 0, 0, 0)
#define DFTRACE_SPAN_CHILD(span, parent, name) DFTRACE_SPAN_BEGIN_ARGS(span, 0, name, parent, 0, 0)
#define DFTRACE_SPAN_BEGIN_ARGS(span, category, name, parent, args, count)                                             \
    do {                                                                                                               \
        DFTRACE_SITE_(category, name);                                                                                 \
        struct dftrace_span *const dftrace_span_ = span;                                                               \
        dftrace_span_->id = 0;                                                                                         \
        if (DFTRACE_HAS_(span_begin))                                                                                  \
            dftrace_api_->span_begin(dftrace_span_, &dftrace_site_, parent, args, (uint32_t)(count));                  \
    } while (0)
#define DFTRACE_SPAN_END(span) DFTRACE_SPAN_END_ARGS(span, 0, 0)
#define DFTRACE_SPAN_END_ARGS(span, args, count)                                                                       \
    do {                                                                                                               \
        DFTRACE_API_;                                                                                                  \
        if (DFTRACE_HAS_(span_end))                                                                                    \
            dftrace_api_->span_end(span, args, (uint32_t)(count));                                                     \
    } while (0)

/* For coroutines and tasks that wander: between resume and suspend the calls of this thread are the span's. They nest like regions;
 * regions that the coroutine has open when it is suspended end there. */
#define DFTRACE_SPAN_RESUME(span)                                                                                      \
    do {                                                                                                               \
        DFTRACE_API_;                                                                                                  \
        if (DFTRACE_HAS_(span_resume))                                                                                 \
            dftrace_api_->span_resume(span);                                                                           \
    } while (0)
#define DFTRACE_SPAN_SUSPEND(span)                                                                                     \
    do {                                                                                                               \
        DFTRACE_API_;                                                                                                  \
        if (DFTRACE_HAS_(span_suspend))                                                                                \
            dftrace_api_->span_suspend(span);                                                                          \
    } while (0)

/* Where there is no place for a struct: a number of your own says which one ends. At most 4,096 such are followed at a time. */
#define DFTRACE_ASYNC_BEGIN(name, id)                                                                                  \
    do {                                                                                                               \
        DFTRACE_SITE_(0, name);                                                                                        \
        if (DFTRACE_HAS_(async_begin))                                                                                 \
            dftrace_api_->async_begin(&dftrace_site_, (uint64_t)(id), 0, 0);                                           \
    } while (0)
#define DFTRACE_ASYNC_END(name, id)                                                                                    \
    do {                                                                                                               \
        DFTRACE_SITE_(0, name);                                                                                        \
        if (DFTRACE_HAS_(async_end))                                                                                   \
            dftrace_api_->async_end(&dftrace_site_, (uint64_t)(id), 0, 0);                                             \
    } while (0)

/* --- flows --------------------------------------------------------------------------------------------------------- */

/* A number for a flow or a span that no other process, and no other call, gets. 0 without the library. */
static __inline__ uint64_t dftrace_new_id(void)
{
    DFTRACE_API_;

    return DFTRACE_HAS_(new_id) ? dftrace_api_->new_id() : 0;
}

#define DFTRACE_FLOW_(name, id, what)                                                                                  \
    do {                                                                                                               \
        DFTRACE_SITE_(0, name);                                                                                        \
        if (DFTRACE_HAS_(flow))                                                                                        \
            dftrace_api_->flow(&dftrace_site_, (uint64_t)(id), what);                                                  \
    } while (0)
#define DFTRACE_FLOW_START(name, id)  DFTRACE_FLOW_(name, id, 0)
#define DFTRACE_FLOW_STEP(name, id)   DFTRACE_FLOW_(name, id, 1)
#define DFTRACE_FLOW_FINISH(name, id) DFTRACE_FLOW_(name, id, 2)

/* --- the recording itself ------------------------------------------------------------------------------------------ */

/* Between pause and resume nothing is recorded, of this thread or of all threads (they nest, each for itself); regions that are open go on.
 * Flush: what all threads have recorded so far is in the trace file. */
#define DFTRACE_PAUSE_THREAD()   DFTRACE_RECORDING_(pause, 0)
#define DFTRACE_RESUME_THREAD()  DFTRACE_RECORDING_(resume, 0)
#define DFTRACE_PAUSE_PROCESS()  DFTRACE_RECORDING_(pause, 1)
#define DFTRACE_RESUME_PROCESS() DFTRACE_RECORDING_(resume, 1)
#define DFTRACE_RECORDING_(function, what)                                                                             \
    do {                                                                                                               \
        DFTRACE_API_;                                                                                                  \
        if (DFTRACE_HAS_(function))                                                                                    \
            dftrace_api_->function(what);                                                                              \
    } while (0)
#define DFTRACE_FLUSH()                                                                                                \
    do {                                                                                                               \
        DFTRACE_API_;                                                                                                  \
        if (DFTRACE_HAS_(flush))                                                                                       \
            dftrace_api_->flush();                                                                                     \
    } while (0)

/* --- scopes -------------------------------------------------------------------------------------------------------- */

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
        DFTRACE_API_;

        if (dftrace_api_)
            dftrace_api_->region_begin(site_);
    }
    ~region()
    {
        DFTRACE_API_;

        if (dftrace_api_)
            dftrace_api_->region_end(site_);
    }
    region(const region &) = delete;
    region &operator=(const region &) = delete;
};

/* A span as long as the object, which may move from thread to thread (a member of a coroutine's promise, a captured value). */
class span
{
    struct dftrace_span span_;

  public:
    span() : span_() {}
    explicit span(const char *name, const char *category = nullptr, const span *parent = nullptr) : span_()
    {
        struct dftrace_site site = {category, name, 0};
        DFTRACE_API_;

        if (DFTRACE_HAS_(span_begin))
            dftrace_api_->span_begin(&span_, &site, parent ? &parent->span_ : nullptr, nullptr, 0);
    }
    span(span &&other) noexcept : span_(other.span_)
    {
        other.span_ = dftrace_span();
    }
    span &operator=(span &&other) noexcept
    {
        if (this != &other) {
            end();
            span_ = other.span_;
            other.span_ = dftrace_span();
        }
        return *this;
    }
    span(const span &) = delete;
    span &operator=(const span &) = delete;
    ~span()
    {
        end();
    }
    void end()
    {
        if (span_.id)
            DFTRACE_SPAN_END(&span_);
        span_ = dftrace_span();
    }
    void resume() const
    {
        DFTRACE_SPAN_RESUME(&span_);
    }
    void suspend() const
    {
        DFTRACE_SPAN_SUSPEND(&span_);
    }
    uint64_t id() const
    {
        return span_.id;
    }
};

/* An argument of any type: numbers with a point, texts; all else is an integer. */
inline struct dftrace_arg make_arg(const char *key, double value)
{
    return dftrace_double(key, value);
}
inline struct dftrace_arg make_arg(const char *key, float value)
{
    return dftrace_double(key, value);
}
inline struct dftrace_arg make_arg(const char *key, long double value)
{
    return dftrace_double(key, static_cast<double>(value));
}
inline struct dftrace_arg make_arg(const char *key, const char *value)
{
    return dftrace_string(key, value);
}
inline struct dftrace_arg make_arg(const char *key, char *value)
{
    return dftrace_string(key, value);
}
template <typename T> inline struct dftrace_arg make_arg(const char *key, T value)
{
    return dftrace_int(key, static_cast<int64_t>(value));
}

/* Of the innermost open region. */
template <typename T> inline void arg(const char *key, T value)
{
    const struct dftrace_arg made = make_arg(key, value);

    if (made.type == 0)
        DFTRACE_ARG_INT(key, made.value.integer);
    else if (made.type == 1)
        DFTRACE_ARG_DOUBLE(key, made.value.number);
    else
        DFTRACE_ARG_STRING(key, made.value.string);
}
} /* namespace dftrace */
#define DFTRACE_REGION_CAT(category_, name_)                                                                           \
    static struct dftrace_site DFTRACE_PASTE_(dftrace_site_, __LINE__) = {category_, name_, 0};                        \
    const dftrace::region DFTRACE_PASTE_(dftrace_region_, __LINE__)(&DFTRACE_PASTE_(dftrace_site_, __LINE__))
#else
static __inline__ struct dftrace_site *dftrace_scope_begin_(struct dftrace_site *site)
{
    DFTRACE_API_;

    if (dftrace_api_)
        dftrace_api_->region_begin(site);
    return site;
}

static __inline__ void dftrace_scope_end_(struct dftrace_site *const *site)
{
    DFTRACE_API_;

    if (dftrace_api_)
        dftrace_api_->region_end(*site);
}
#define DFTRACE_REGION_CAT(category_, name_)                                                                           \
    static struct dftrace_site DFTRACE_PASTE_(dftrace_site_, __LINE__) = {category_, name_, 0};                        \
    struct dftrace_site *const DFTRACE_PASTE_(dftrace_region_, __LINE__)                                               \
        __attribute__((cleanup(dftrace_scope_end_), unused)) =                                                         \
            dftrace_scope_begin_(&DFTRACE_PASTE_(dftrace_site_, __LINE__))
#endif

#endif
