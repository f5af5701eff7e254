/* SPDX-License-Identifier: MIT */
/* Owns the annotations: instants, counters, metadata and arguments become records of the calling
 * thread's ring; what programs see. */
#include "regions/annotate.h"

#include <stddef.h>
#include <string.h>

#include "ring/bursts.h"
#include "ring/interpreter.h"
#include "ring/names.h"
#include "os/clock.h"
#include "format/event.h"
#include "regions/region.h"
#include "store/process.h"
#include "store/process_start.h"

/* --- arguments -------------------------------------------------------------------------------- */

/* An argument of the innermost open region. */
static void arg_of_region(const struct dftrace_arg arg)
{
    struct dft_thread *self = dft_annotate_thread();

    if (!self)
        return;
    if (atomic_load_explicit(&self->home->depth, memory_order_relaxed))
        dft_region_keep_args(self, &arg, 1);
    else
        dft_misuse(self, DFT_MISUSE_ARG_ALONE, 1);
}

static void arg_int(const char *key, int64_t value)
{
    arg_of_region(dftrace_int(key, value));
}

static void arg_double(const char *key, double value)
{
    arg_of_region(dftrace_double(key, value));
}

static void arg_string(const char *key, const char *value)
{
    arg_of_region(dftrace_string(key, value));
}

/* Keeps an argument of an open region that need not be the innermost one. */
static void keep_arg_of(struct dft_thread *self, uint64_t name, const struct dftrace_arg *arg)
{
    _Atomic uint32_t *of = dft_region_args_of(self, name);
    uint32_t from;

    if (of && (dft_annotate_change(self, of, arg) || dft_annotate_put_apart(self, name, arg)))
        return;
    from = self->args_used;
    dft_annotate_keep_args(self, arg, 1);
    if (self->args_used == from || !dft_region_give_args(self, name, from))
        return;
    self->args_used = (uint16_t)from;
    dft_misuse(self, DFT_MISUSE_ARG_ALONE, 1);
}

static void arg_of(struct dftrace_site *site, const struct dftrace_arg *arg)
{
    struct dft_thread *self = dft_annotate_thread();

    if (self)
        keep_arg_of(self, dft_annotate_site(self, site, "APP"), arg);
}

static void arg_of_id(uint64_t id, const struct dftrace_arg *arg)
{
    struct dft_thread *self = dft_annotate_thread();

    if (self)
        keep_arg_of(self, id, arg);
}

/* --- regions ---------------------------------------------------------------------------------- */

static void region_begin_args(struct dftrace_site *site, const struct dftrace_arg *args, uint32_t count)
{
    struct dft_thread *self = dft_annotate_thread();

    if (!self)
        return;
    dft_bursts_end(self);
    dft_region_begin(self, dft_annotate_site(self, site, "APP"), dft_ticks(), 0);
    dft_region_keep_args(self, args, count);
}

static void region_begin(struct dftrace_site *site)
{
    struct dft_thread *self = dft_annotate_thread();
    uint64_t name;

    if (__builtin_expect(self == NULL, 0))
        return;
    if (__builtin_expect(self->bursts_open, 0))
        dft_bursts_end(self);
    name = dft_annotate_site(self, site, "APP");
    if (__builtin_expect(!dft_region_begin_quick(self, name), 0))
        dft_region_begin(self, name, dft_ticks(), 0);
}

static void end_region(struct dft_thread *self, uint64_t name, uint64_t end, const struct dftrace_arg *args,
                       uint32_t count)
{
    uint16_t from = self->args_used, depth;
    int within;

    if (count && dft_region_innermost(self, &depth) == name) {
        dft_region_keep_args(self, args, count); /* a number that is there is changed */
        count = 0;
    }
    for (uint32_t i = 0; args && i < count; i++)
        if (!dft_annotate_put_apart(self, name, &args[i]))
            dft_annotate_keep_args(self, &args[i], 1);
    within = dft_region_end(self, name, end);
    if (within == 0)
        return;
    dft_misuse(self, within < 0 ? DFT_MISUSE_END_ALONE : DFT_MISUSE_OUTER_FIRST, within < 0 ? 1 : (uint64_t)within);
    if (within < 0)
        self->args_used = from;
}

static void region_end_args(struct dftrace_site *site, const struct dftrace_arg *args, uint32_t count)
{
    uint64_t end = dft_ticks();
    struct dft_thread *self = dft_annotate_thread();

    if (!self)
        return;
    dft_bursts_end(self);
    end_region(self, dft_annotate_site(self, site, "APP"), end, args, count);
}

/* The calling thread, a region of which ends; NULL: nothing is traced. */
static inline __attribute__((always_inline)) struct dft_thread *ending_thread(void)
{
    struct dft_thread *self = dft_annotate_thread();

    if (self && __builtin_expect(self->bursts_open, 0))
        dft_bursts_end(self);
    return self;
}

static inline void end_quickly(struct dft_thread *self, uint64_t name, uint64_t end)
{
    if (__builtin_expect(!dft_region_end_quick(self, name, end), 0))
        end_region(self, name, end, NULL, 0);
}

static void region_end(struct dftrace_site *site)
{
    uint64_t end = dft_ticks();
    struct dft_thread *self = ending_thread();

    if (__builtin_expect(self != NULL, 1))
        end_quickly(self, dft_annotate_site(self, site, "APP"), end);
}

static void region_end_id(uint64_t id)
{
    uint64_t end = dft_ticks();
    struct dft_thread *self = ending_thread();

    if (__builtin_expect(self != NULL, 1))
        end_quickly(self, id, end);
}

static void region_drop(struct dftrace_site *site)
{
    struct dft_thread *self = ending_thread();

    if (self)
        dft_region_drop(self, dft_annotate_site(self, site, "APP"));
}

/* --- points ----------------------------------------------------------------------------------- */

static void put_point(enum dft_op op, struct dftrace_site *site, const struct dftrace_arg *args, uint32_t count)
{
    struct dft_thread *self = dft_annotate_thread();
    uint32_t from;

    if (!self)
        return;
    from = dft_args_begin(self);
    dft_annotate_keep_args(self, args, count);
    dft_annotate_put_point(self, op, dft_annotate_site(self, site, "APP"), NULL, 0, from);
}

static void instant_args(struct dftrace_site *site, const struct dftrace_arg *args, uint32_t count)
{
    put_point(DFT_OP_INSTANT, site, args, count);
}

static void metadata_args(struct dftrace_site *site, const struct dftrace_arg *args, uint32_t count)
{
    put_point(DFT_OP_METADATA, site, args, count);
}

static void instant(struct dftrace_site *site)
{
    instant_args(site, NULL, 0);
}

/* A value and its name, for counters and metadata. */
static void put_value(struct dft_thread *self, enum dft_op op, uint64_t name, struct dftrace_arg value)
{
    uint32_t from = dft_args_begin(self);

    value.key = "value";
    if (value.type == 2 && !value.value.string) {
        dft_misuse(self, DFT_MISUSE_NULL, 1);
        self->args_used = (uint16_t)from;
        return;
    }
    dft_annotate_keep_args(self, &value, 1);
    dft_annotate_put_point(self, op, name, NULL, 0, from);
}

static void counter_int(struct dftrace_site *site, int64_t value)
{
    struct dft_thread *self = dft_annotate_thread();

    if (self)
        put_value(self, DFT_OP_COUNTER, dft_annotate_site(self, site, "APP"), dftrace_int(NULL, value));
}

static void counter_double(struct dftrace_site *site, double value)
{
    struct dft_thread *self = dft_annotate_thread();

    if (self)
        put_value(self, DFT_OP_COUNTER, dft_annotate_site(self, site, "APP"), dftrace_double(NULL, value));
}

void dft_annotate_put_metadata(const char *scope, const struct dftrace_arg *arg)
{
    struct dft_thread *self = dft_annotate_thread();

    if (self)
        put_value(self, DFT_OP_METADATA, dft_names_define(self, scope ? scope : "APP", arg->key), *arg);
}

static void metadata(const char *key, const char *value)
{
    const struct dftrace_arg arg = dftrace_string(key, value);

    dft_annotate_put_metadata("APP", &arg);
}

static void thread_name(const char *name)
{
    const struct dftrace_arg arg = dftrace_string("thread_name", name);

    dft_annotate_put_metadata("dftrace", &arg);
}

static void set_role(const char *name)
{
    struct dft_signals before;

    if (dft_in_vfork_child())
        return;
    before = dft_signals_block();
    dft_process_set_role(name ? name : "");
    if (dft_process_start_is_done() && *dft_generation && !dft_is_sandboxed())
        dft_process_describe();
    dft_signals_restore(before);
}

/* --- what programs see ------------------------------------------------------------------------ */

extern struct dftrace_api dftrace_api_v1;
__attribute__((visibility("default"))) struct dftrace_api dftrace_api_v1 = {
    .version = DFTRACE_API_VERSION,
    .size = sizeof(struct dftrace_api),
    .region_begin = region_begin,
    .region_end = region_end,
    .instant = instant,
    .counter_int = counter_int,
    .counter_double = counter_double,
    .metadata = metadata,
    .arg_int = arg_int,
    .arg_double = arg_double,
    .arg_string = arg_string,
    .thread_name = thread_name,
    .region_begin_args = region_begin_args,
    .region_end_args = region_end_args,
    .instant_args = instant_args,
    .span_begin = dft_span_begin,
    .span_end = dft_span_end,
    .span_resume = dft_span_resume,
    .span_suspend = dft_span_suspend,
    .async_begin = dft_span_async_begin,
    .async_end = dft_span_async_end,
    .flow = dft_span_flow,
    .new_id = dft_span_new_id,
    .metadata_arg = dft_annotate_put_metadata,
    .pause = dft_pause,
    .resume = dft_resume,
    .flush = dft_flush,
    .arg_of = arg_of,
    .init = dft_app_init,
    .region_end_id = region_end_id,
    .arg_of_id = arg_of_id,
    .metadata_args = metadata_args,
    .set_role = set_role,
    .event = dft_event,
    .now = dft_event_now,
    .set_frames = dft_interpreter_set,
    .region_drop = region_drop,
    .span_since = dft_span_since,
    .span_event = dft_span_event,
};

/* The name above may lead to another copy of this library. */
extern struct dftrace_api own_api __attribute__((alias("dftrace_api_v1"), visibility("hidden")));

void dft_annotate_enable(void)
{
    own_api.enabled = 1;
}

int dft_annotate_is_enabled(void)
{
    return own_api.enabled;
}

void dft_annotate_hand_on(const struct dftrace_api *other)
{
    int enabled = own_api.enabled; /* by the other copy, where its own name leads here */

    if (other->version == DFTRACE_API_VERSION)
        memcpy(&own_api, other, other->size < sizeof *other ? other->size : sizeof *other);
    own_api.enabled |= enabled;
}
