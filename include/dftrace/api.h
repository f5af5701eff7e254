/* SPDX-License-Identifier: MIT */
/* What libdftrace.so exports to annotations, how a program finds it without linking anything, and
 * the types that both know. */
#ifndef DFTRACE_API_H
#define DFTRACE_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DFTRACE_API_VERSION 1

/* One place in a program that makes events. Zero-initialised but for the names; `id` is filled in
 * at the first use. */
struct dftrace_site {
    const char *category; /* NULL: "APP", of spans "ASYNC" */
    const char *name;
    uint64_t id;
};

/* A span, or a coroutine that goes on in one thread or another. Yours, wherever you like; it may be
 * copied. All zeros: not begun. */
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

/* A walk through the frames of an interpreter: what dftrace_frames.walk uses. `can_read`: can these
 * bytes be read? `put_frame`: a frame, the innermost first, as "file:line function" in UTF-8 of at
 * most 400 bytes; 0: no more are wanted. `end_loop`: the frames so far belong to one call of the
 * interpreter's loop. */
struct dftrace_walk {
    size_t size;
    int (*can_read)(struct dftrace_walk *walk, const void *at, size_t bytes);
    int (*put_frame)(struct dftrace_walk *walk, const char *text, size_t length);
    void (*end_loop)(struct dftrace_walk *walk);
};

/* How an extension of an interpreter tells the frames of the program. `walk` runs in the thread that
 * made a call, behind the call: in signal handlers, in forked children, with locks held. It takes
 * no lock and no memory. The frames stand in the stack in place of the loop's own. */
struct dftrace_frames {
    size_t size;
    const void *loop; /* the code of the interpreter's loop */
    size_t loop_bytes;
    void (*walk)(struct dftrace_walk *walk);
};

/* What libdftrace.so exports. Fields are only ever added at the end; `size` says how many there
 * are. */
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
    /* By the id that a site got from region_begin: the site itself may be gone. */
    void (*region_end_id)(uint64_t id);
    void (*arg_of_id)(uint64_t id, const struct dftrace_arg *arg);
    void (*metadata_args)(struct dftrace_site *site, const struct dftrace_arg *args, uint32_t count);
    void (*set_role)(const char *name);
    /* A complete event, by times that `now` gives: ns since 1970 of the clock of the trace. */
    void (*event)(struct dftrace_site *site, uint64_t start_ns, uint64_t duration_ns, const struct dftrace_arg *args,
                  uint32_t count);
    uint64_t (*now)(void);
    /* Valid for the life of the process; NULL: asks only. Returns 0 where no stacks are recorded. */
    int (*set_frames)(const struct dftrace_frames *frames);
    /* Closes the innermost region, if it is this one, without an event. */
    void (*region_drop)(struct dftrace_site *site);
    /* The open span starts where another open one did. */
    void (*span_since)(struct dftrace_span *span, const struct dftrace_span *earlier);
    /* A complete span by such times: what goes on outside of all threads. `bytes` 0: it moves none. */
    void (*span_event)(struct dftrace_site *site, uint64_t start_ns, uint64_t duration_ns, uint64_t bytes,
                       const struct dftrace_arg *args, uint32_t count);
};

#if (defined(__x86_64__) && defined(__LP64__)) || defined(__aarch64__)
/* The address of the library's symbol from the global offset table, NULL without the library.
 * Written in assembly because for a position-dependent program the compiler and linker would settle
 * a weak symbol at link time. */
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

#ifdef __cplusplus
}
#endif

#endif
