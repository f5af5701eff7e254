/* SPDX-License-Identifier: MIT */
/* Owns spans, which one thread begins and another may end, and flows. A span's start is in its
 * user's handle, sealed: of memory that no begin has filled in it would be a time that cannot be.
 * Where the user has but a number for the span, it is in a table.
 *
 * The table is one of sets: a number has DFT_WAYS places where it may be. Any thread may put, and
 * take, at the same time: a place is claimed by changing its key, to CLAIMED while the rest of it
 * is written or read. */
#include <string.h>

#include "ring/bursts.h"
#include "os/bulk.h"
#include "regions/annotate.h"
#include "os/clock.h"

#define WAYS    8u
#define SETS    512u
#define CLAIMED 1u

struct place {
    _Atomic uint64_t key; /* 0: free */
    uint64_t start;
};
static struct place table[SETS][WAYS] DFT_BULK;

/* A bijection that spreads all bits (the finaliser of splitmix64). */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static int claim(struct place *place, uint64_t key)
{
    return atomic_load_explicit(&place->key, memory_order_relaxed) == key &&
           atomic_compare_exchange_strong_explicit(&place->key, &key, CLAIMED, memory_order_acquire,
                                                   memory_order_relaxed);
}

/* Returns 0, or -1: there is no room. */
static int table_put(uint64_t key, uint64_t start)
{
    struct place *set = table[key % SETS];

    for (uint32_t i = 0; i < WAYS; i++)
        if (claim(&set[i], 0)) {
            set[i].start = start;
            atomic_store_explicit(&set[i].key, key, memory_order_release);
            return 0;
        }
    return -1;
}

/* Returns the start, 0: it is not there. */
static uint64_t table_take(uint64_t key)
{
    struct place *set = table[key % SETS];

    for (uint32_t i = 0; i < WAYS; i++)
        if (claim(&set[i], key)) {
            uint64_t start = set[i].start;

            atomic_store_explicit(&set[i].key, 0, memory_order_release);
            return start;
        }
    return 0;
}

static uint64_t key_of(uint64_t name, uint64_t id)
{
    uint64_t key = mix(mix(name) ^ id);

    return key > CLAIMED ? key : key + 2;
}

/* --- records ---------------------------------------------------------------------------------- */

/* Items: phase (0: complete, none) and id. Returns their length. */
static uint32_t head_of(uint8_t head[11], enum dft_phase phase, uint64_t id)
{
    uint32_t n = 0;

    if (phase) {
        head[n++] = DFT_ITEM_PHASE;
        head[n++] = (uint8_t)phase;
    }
    head[n++] = DFT_ITEM_ID;
    memcpy(head + n, &id, 8);
    return n + 8;
}

static uint64_t put_point(struct dft_thread *self, enum dft_op op, enum dft_phase phase, uint64_t name, uint64_t id,
                          uint32_t args_from)
{
    uint8_t head[11];

    return dft_annotate_put_point(self, op, name, head, head_of(head, phase, id), args_from);
}

/* The whole span. It is in no region: those of the thread that ends it are not around it. */
static void put_span(struct dft_thread *self, uint64_t name, uint64_t id, uint64_t start,
                     const struct dftrace_arg *args, uint32_t count)
{
    uint64_t end = dft_ticks();
    uint32_t from = dft_args_begin(self);
    struct dft_slot record = {
        .start = start, .call = DFT_CALL_ANNOTATION + DFT_OP_REGION, .file = name, .offset = -1, .fd = -1};
    uint8_t head[11];

    dft_annotate_keep_args(self, args, count);
    dft_annotate_put(self, &record, dft_ticks_between(start, end), head, head_of(head, DFT_PHASE_COMPLETE, id), from);
    atomic_fetch_add_explicit(&self->home->spans_ended, 1, memory_order_relaxed);
}

static uint64_t put_begin(struct dft_thread *self, uint64_t name, uint64_t id, uint64_t parent,
                          const struct dftrace_arg *args, uint32_t count)
{
    uint32_t from = dft_args_begin(self);
    uint64_t start;

    if (parent)
        dft_annotate_keep_int(self, "parent", (int64_t)parent);
    dft_annotate_keep_args(self, args, count);
    start = put_point(self, DFT_OP_REGION, DFT_PHASE_ASYNC_BEGIN, name, id, from);
    return start ? start : 1;
}

/* --- with a handle ---------------------------------------------------------------------------- */

uint64_t dft_span_next_id(struct dft_thread *self)
{
    return (uint64_t)self->home->stream << 32 | (__atomic_add_fetch(&self->spans, 1, __ATOMIC_RELAXED) & UINT32_MAX);
}

/* Sealing twice opens it. */
static uint64_t sealed(const struct dftrace_span *span, uint64_t id, uint64_t start)
{
    return start ^ key_of(span->name, id);
}

/* Processors' ticks may differ by a little. One in thousands of handles that were never begun passes. */
static int has_been(uint64_t start)
{
    return start <= dft_ticks() + UINT32_MAX;
}

static int is_begun(const struct dftrace_span *span)
{
    return span && span->id && has_been(sealed(span, span->id, span->start));
}

void dft_span_begin(struct dftrace_span *span, struct dftrace_site *site, const struct dftrace_span *parent,
                    const struct dftrace_arg *args, uint32_t count)
{
    struct dft_thread *self = dft_annotate_thread();
    uint64_t id;

    if (!self)
        return;
    if (!span) {
        dft_misuse(self, DFT_MISUSE_NULL, 1);
        return;
    }
    id = dft_span_next_id(self);
    span->name = dft_annotate_site(self, site, "ASYNC");
    span->parent = parent ? parent->id : 0;
    span->start = sealed(span, id, put_begin(self, span->name, id, span->parent, args, count));
    atomic_fetch_add_explicit(&self->home->spans_begun, 1, memory_order_relaxed);
    __atomic_store_n(&span->id, id, __ATOMIC_RELEASE);
}

void dft_span_since(struct dftrace_span *span, const struct dftrace_span *earlier)
{
    if (is_begun(span) && is_begun(earlier))
        span->start = sealed(span, span->id, sealed(earlier, earlier->id, earlier->start));
}

void dft_span_end(struct dftrace_span *span, const struct dftrace_arg *args, uint32_t count)
{
    struct dft_thread *self = dft_annotate_thread();
    uint64_t id, start;

    if (!self)
        return;
    id = span ? __atomic_exchange_n(&span->id, 0, __ATOMIC_ACQUIRE) : 0; /* of two that end it one does */
    start = id ? sealed(span, id, span->start) : 0;
    if (id && has_been(start))
        put_span(self, span->name, id, start, args, count);
    else
        dft_misuse(self, span ? DFT_MISUSE_SPAN_ALONE : DFT_MISUSE_NULL, 1);
}

void dft_span_resume(const struct dftrace_span *span)
{
    struct dft_thread *self = dft_annotate_thread();

    if (!self)
        return;
    dft_bursts_end(self);
    if (is_begun(span))
        dft_region_begin(self, span->name, 0, span->id);
    else
        dft_misuse(self, DFT_MISUSE_RESUME_ALONE, 1);
}

void dft_span_suspend(const struct dftrace_span *span)
{
    struct dft_thread *self = dft_annotate_thread();

    if (!self)
        return;
    dft_bursts_end(self);
    if (!is_begun(span) || dft_region_leave(self, span->name, span->id) < 0)
        dft_misuse(self, DFT_MISUSE_RESUME_ALONE, 1);
}

/* --- with a number ---------------------------------------------------------------------------- */

void dft_span_async_begin(struct dftrace_site *site, uint64_t id, const struct dftrace_arg *args, uint32_t count)
{
    struct dft_thread *self = dft_annotate_thread();
    uint64_t name;

    if (!self)
        return;
    name = dft_annotate_site(self, site, "ASYNC");
    if (table_put(key_of(name, id), put_begin(self, name, id, 0, args, count)))
        dft_misuse(self, DFT_MISUSE_SPAN_MANY, 1);
    else
        atomic_fetch_add_explicit(&self->home->spans_begun, 1, memory_order_relaxed);
}

/* Where the begin is not known (another process's, perhaps), the end is a point. */
void dft_span_async_end(struct dftrace_site *site, uint64_t id, const struct dftrace_arg *args, uint32_t count)
{
    struct dft_thread *self = dft_annotate_thread();
    uint64_t name, start;
    uint32_t from;

    if (!self)
        return;
    name = dft_annotate_site(self, site, "ASYNC");
    start = table_take(key_of(name, id));
    if (start) {
        put_span(self, name, id, start, args, count);
        return;
    }
    from = dft_args_begin(self);
    dft_annotate_keep_args(self, args, count);
    put_point(self, DFT_OP_REGION, DFT_PHASE_ASYNC_END, name, id, from);
    dft_misuse(self, DFT_MISUSE_SPAN_ALONE, 1);
}

/* --- around a function ------------------------------------------------------------------------ */

/* A span of the table whose calls are the thread's meanwhile. The items from args_from on are its
 * begin's. */
void dft_span_enter(struct dft_thread *self, uint64_t name, uint32_t args_from)
{
    uint64_t id = dft_span_next_id(self),
             start = put_point(self, DFT_OP_REGION, DFT_PHASE_ASYNC_BEGIN, name, id, args_from);

    if (table_put(key_of(name, id), start ? start : 1))
        dft_misuse(self, DFT_MISUSE_SPAN_MANY, 1);
    else
        atomic_fetch_add_explicit(&self->home->spans_begun, 1, memory_order_relaxed);
    dft_region_begin(self, name, 0, id);
}

int dft_span_leave(struct dft_thread *self, uint64_t name, uint32_t args_from)
{
    uint8_t head[11];
    uint64_t end = dft_ticks(), id = dft_region_span(self, name), start = id ? table_take(key_of(name, id)) : 0;
    struct dft_slot record = {
        .start = start, .call = DFT_CALL_ANNOTATION + DFT_OP_REGION, .file = name, .offset = -1, .fd = -1};

    if (!id)
        return -1;
    if (start) {
        dft_annotate_put(self, &record, dft_ticks_between(start, end), head, head_of(head, DFT_PHASE_COMPLETE, id),
                         args_from);
        atomic_fetch_add_explicit(&self->home->spans_ended, 1, memory_order_relaxed);
    } else {
        put_point(self, DFT_OP_REGION, DFT_PHASE_ASYNC_END, name, id, args_from);
    }
    return dft_region_leave(self, name, id);
}

/* --- flows ------------------------------------------------------------------------------------ */

void dft_span_flow(struct dftrace_site *site, uint64_t id, int what)
{
    static const uint8_t phases[] = {DFT_PHASE_FLOW_START, DFT_PHASE_FLOW_STEP, DFT_PHASE_FLOW_END};
    struct dft_thread *self = dft_annotate_thread();

    if (self && what >= 0 && what <= 2)
        put_point(self, DFT_OP_FLOW, phases[what], dft_annotate_site(self, site, "APP"), id, dft_args_begin(self));
}

uint64_t dft_span_new_id(void)
{
    struct dft_thread *self = dft_annotate_thread();
    uint64_t id = self ? mix(dft_key + dft_span_next_id(self)) : 0;

    return self && !id ? 1 : id;
}
