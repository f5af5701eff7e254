/* SPDX-License-Identifier: MIT */
/* dftrace: annotations for C and C++. Include and use; nothing needs linking. C89 with GNU assembly
 * to C23, C++11 to C++23.
 *
 * When the program runs under libdftrace.so with tracing on, regions, spans, flows, instants,
 * counters and metadata become events beside the I/O calls, and every call knows the innermost
 * region of its thread. Otherwise each macro costs a load and a branch.
 *
 *     void step(void)
 *     {
 *         DFTRACE_REGION("step");                  -- until the end of the scope
 *         DFTRACE_ARG_INT("epoch", 3);             -- an argument of the innermost open region
 *         DFTRACE_BEGIN("load"); ... DFTRACE_END("load");
 *         DFTRACE_COUNTER("queue_depth", 17);
 *     }
 *
 * Names are copied at their first use at a call site; they need not be literals for the functions
 * in small letters. All functions may be called from any thread and from signal handlers; they keep
 * errno, allocate nothing and never block (but for flush and pause, which write).
 *
 * REGIONS belong to the thread that began them and nest. An end without a begin is ignored; regions
 * that are still open when an outer one ends are ended with it; those that are open when their
 * thread or process ends, end there, and their argument "ended_by" says so. SPANS belong to no
 * thread: they are begun by one, ended by the same or any other, and overlap. FLOWS are arrows
 * between what goes on at their points, which may lie in different threads and processes. What was
 * used wrongly is counted, and `dftmerge summary` and `dftmerge check` say it. NULL as a name is
 * "(null)". */
#ifndef DFTRACE_H
#define DFTRACE_H

#include <dftrace/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- regions: begin and end in one thread, properly nested ------------------------------------ */

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

/* --- arguments -------------------------------------------------------------------------------- */

/* Of the innermost open region of this thread: recorded when it ends, with the last value of each
 * key in the order of calls. A number may be set any number of times. At most 1 KiB of
 * arguments a thread is kept; what does not fit is marked as cut. */
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

/* Arguments for the forms that take several: struct dftrace_arg args[] = {dftrace_int("a", 1),
 * dftrace_string("b", text)} */
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

/* --- moments ---------------------------------------------------------------------------------- */

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

/* What was timed otherwise: start and duration in ns, the start by the clock of the trace
 * (dftrace_now(): ns since 1970; 0 when nothing is traced). It nests in the open region. A start
 * that is yet to come is now. */
static __inline__ uint64_t dftrace_now(void)
{
    DFTRACE_API_;

    return DFTRACE_HAS_(now) ? dftrace_api_->now() : 0;
}

#define DFTRACE_EVENT(name, start_ns, duration_ns) DFTRACE_EVENT_ARGS(name, start_ns, duration_ns, 0, 0)
#define DFTRACE_EVENT_ARGS(name, start_ns, duration_ns, args, count)                                                   \
    do {                                                                                                               \
        DFTRACE_SITE_(0, name);                                                                                        \
        if (DFTRACE_HAS_(event))                                                                                       \
            dftrace_api_->event(&dftrace_site_, (uint64_t)(start_ns), (uint64_t)(duration_ns), args,                   \
                                (uint32_t)(count));                                                                    \
    } while (0)

/* --- metadata: key and value are copied ------------------------------------------------------- */

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

/* What this process is among those of its job ("loader 3", "trainer"): replaces DFTRACER_ROLE. Copied,
 * at most 255 bytes. A forked child begins with DFTRACER_ROLE again. */
static __inline__ void dftrace_set_role(const char *name)
{
    DFTRACE_API_;

    if (DFTRACE_HAS_(set_role))
        dftrace_api_->set_role(name);
}

/* --- spans ------------------------------------------------------------------------------------ */

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

/* For coroutines and tasks that wander: between resume and suspend the calls of this thread are the
 * span's. They nest like regions; regions that the coroutine has open when it is suspended end
 * there. */
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

/* Where there is no place for a struct: a number of your own says which one ends. At most 4,096
 * such are followed at a time. */
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

/* --- flows ------------------------------------------------------------------------------------ */

/* A number for a flow or a span that no other process, and no other call, gets. 0 without the
 * library. */
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

/* --- the recording itself --------------------------------------------------------------------- */

/* Between pause and resume nothing is recorded, of this thread or of all threads (they nest, each
 * for itself); regions that are open go on. Flush: what all threads have recorded so far is in the
 * trace file. */
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

#ifdef __cplusplus
}
#endif

#include <dftrace/scope.h>

#endif
