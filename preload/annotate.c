/* Owns the annotations: instants, counters, metadata and arguments become records of the calling thread's ring; what programs see. */
#include "annotate.h"

#include <stddef.h>
#include <string.h>

#include "clock.h"
#include "codec.h"
#include "region.h"
#include "run.h"

#define NAME_ROOM   448u /* longer names are cut */
#define STRING_MOST 4096u
#define ARGS_SPARED 128u /* what a text that is cut leaves for arguments behind it */

/* --- names -------------------------------------------------------------------------------------------------------- */

/* "category NUL name" on the stack of its user. */
struct name {
    uint64_t id;
    uint32_t length;
    char text[NAME_ROOM];
};

/* Copies what there is room for. Returns its length. */
static uint32_t copy(struct dft_thread *self, char *to, uint32_t room, const char *text)
{
    size_t n;

    if (!text) {
        dft_misuse(self, DFT_MISUSE_NULL, 1);
        text = "(null)";
    }
    n = strnlen(text, room + 1u);
    if (n > room) {
        dft_misuse(self, DFT_MISUSE_NAME_CUT, 1);
        n = room;
    }
    memcpy(to, text, n);
    return (uint32_t)n;
}

/* Its text goes into the ring at the first use. */
__attribute__((noinline)) uint64_t dft_annotate_name(struct dft_thread *self, const char *category, const char *text)
{
    struct dft_pieces pieces = {.count = 0};
    struct name name;
    uint32_t n = copy(self, name.text, 64, category);

    name.text[n++] = 0;
    name.length = n + copy(self, name.text + n, NAME_ROOM - n, text);
    name.id = dft_name_id(name.text, name.length);
    if (!dft_name_was_sent(self, name.id)) {
        dft_pieces_add(&pieces, name.text, name.length);
        dft_name_send(self, name.id, &pieces);
    }
    return name.id;
}

uint64_t dft_annotate_site_slow(struct dft_thread *self, struct dftrace_site *site, const char *category)
{
    uint64_t id = dft_annotate_name(self, site->category ? site->category : category, site->name);

    __atomic_store_n(&site->id, id, __ATOMIC_RELAXED);
    return id;
}

/* --- records ------------------------------------------------------------------------------------------------------ */

void dft_annotate_put(struct dft_thread *self, struct dft_slot *record, uint64_t duration, const void *head,
                      uint32_t head_bytes, uint32_t args_from)
{
    uint32_t first = args_from & ~DFT_ARGS_CUT, used = self->args_used; /* a handler's are gone again */
    uint32_t args = (used & ~DFT_ARGS_CUT) - first;
    struct dft_pieces items = {.count = 0};
    uint8_t tag = DFT_ITEM_DURATION;

    record->duration = (uint32_t)duration;
    if (duration >> 32) {
        record->duration = 0;
        dft_pieces_add(&items, &tag, 1);
        dft_pieces_add(&items, &duration, 8);
    }
    if (head_bytes)
        dft_pieces_add(&items, head, head_bytes);
    if (args)
        dft_pieces_add(&items, self->home->args + first, args);
    if (used & DFT_ARGS_CUT)
        record->bits |= DFT_BIT_CUT;
    dft_ring_put_any(self, record, &items);
    self->args_used = (uint16_t)args_from;
}

uint64_t dft_annotate_put_point(struct dft_thread *self, enum dft_op op, uint64_t name, const void *head,
                                uint32_t head_bytes, uint32_t args_from)
{
    struct dft_slot record = {.start = dft_ticks(),
                              .call = (uint16_t)(DFT_CALL_ANNOTATION + op),
                              .bits = op == DFT_OP_INSTANT ? DFT_PHASE_INSTANT << DFT_SLOT_PHASE_SHIFT : 0,
                              .file = name,
                              .offset = -1,
                              .fd = -1};

    record.region = dft_region_innermost(self, &record.depth);
    dft_annotate_put(self, &record, 0, head, head_bytes, args_from);
    return record.start;
}

/* --- arguments ---------------------------------------------------------------------------------------------------- */

/* `of`: the word of the region that they are of, NULL of those of a point, or of the end of a region: nobody else is to see them. */
static void mark_cut(struct dft_thread *self, _Atomic uint32_t *of)
{
    __atomic_fetch_or(&self->args_used, (uint16_t)DFT_ARGS_CUT, __ATOMIC_RELAXED);
    if (of)
        atomic_fetch_or_explicit(of, DFT_REGION_ARGS_CUT, memory_order_relaxed);
    dft_misuse(self, DFT_MISUSE_ARG_CUT, 1);
}

/* The item at `at` is whole, and those that handlers have put behind it meanwhile. Where it is not the first that is not shown yet, the caller
 * is a handler, and who it interrupted shows it. */
static void show(struct dft_thread *self, _Atomic uint32_t *of, uint32_t at)
{
    uint32_t used;

    if (dft_region_args_end(atomic_load_explicit(of, memory_order_relaxed)) != at)
        return;
    do {
        uint32_t word = atomic_load_explicit(of, memory_order_relaxed);

        used = __atomic_load_n(&self->args_used, __ATOMIC_RELAXED) & ~DFT_ARGS_CUT;
        atomic_store_explicit(of, (word & (DFT_REGION_ARGS_CUT | 0xffff)) | used << 16, memory_order_release);
        atomic_signal_fence(memory_order_seq_cst);
    } while ((__atomic_load_n(&self->args_used, __ATOMIC_RELAXED) & ~DFT_ARGS_CUT) != used);
}

/* Again where a handler's drain has moved the thread to another ring. */
static void write_item(struct dft_thread *self, uint32_t used, uint8_t tag, uint64_t key, const void *value,
                       uint32_t length)
{
    uint32_t with_length = tag == DFT_ITEM_ARG_STRING ? 4 : 0;
    struct dft_ring *home;

    do {
        uint8_t *at = self->home->args + used;

        home = self->home;
        *at = tag;
        memcpy(at + 1, &key, 8);
        memcpy(at + 9, &length, with_length);
        memcpy(at + 9 + with_length, value, length);
        atomic_signal_fence(memory_order_seq_cst);
    } while (home != *(struct dft_ring *volatile *)&self->home);
}

static void keep(struct dft_thread *self, _Atomic uint32_t *of, uint8_t tag, uint64_t key, const void *value,
                 uint32_t length)
{
    uint32_t with_length = tag == DFT_ITEM_ARG_STRING ? 4 : 0, bytes = 9 + with_length + length;
    uint32_t used = __atomic_load_n(&self->args_used, __ATOMIC_RELAXED) & ~DFT_ARGS_CUT;

    if (with_length && used + bytes > DFT_ARGS_BYTES && used + 13 + ARGS_SPARED < DFT_ARGS_BYTES) {
        length = DFT_ARGS_BYTES - ARGS_SPARED - used - 13;
        bytes = 13 + length;
        mark_cut(self, of);
    }
    if (bytes > DFT_ARGS_BYTES)
        bytes = DFT_ARGS_BYTES + 1; /* the sum below must not overflow */
    used = __atomic_fetch_add(&self->args_used, (uint16_t)bytes, __ATOMIC_RELAXED) &
           ~DFT_ARGS_CUT; /* a handler's go behind */
    if (used + bytes > DFT_ARGS_BYTES) {
        __atomic_fetch_sub(&self->args_used, (uint16_t)bytes, __ATOMIC_RELAXED);
        mark_cut(self, of);
        return;
    }
    write_item(self, used, tag, key, value, length);
    if (of)
        show(self, of, used);
}

static void keep_string(struct dft_thread *self, _Atomic uint32_t *of, const char *key, const char *value)
{
    if (value)
        keep(self, of, DFT_ITEM_ARG_STRING, dft_annotate_name(self, "", key), value,
             (uint32_t)strnlen(value, STRING_MOST));
    else
        dft_misuse(self, DFT_MISUSE_NULL, 1);
}

void dft_annotate_keep_int(struct dft_thread *self, const char *key, int64_t value)
{
    keep(self, NULL, DFT_ITEM_ARG_INT, dft_annotate_name(self, "", key), &value, 8);
}

static void keep_args(struct dft_thread *self, _Atomic uint32_t *of, const struct dftrace_arg *args, uint32_t count)
{
    for (uint32_t i = 0; args && i < count; i++)
        if (args[i].type == 2)
            keep_string(self, of, args[i].key, args[i].value.string);
        else
            keep(self, of, args[i].type ? DFT_ITEM_ARG_DOUBLE : DFT_ITEM_ARG_INT,
                 dft_annotate_name(self, "", args[i].key), &args[i].value, 8);
}

void dft_annotate_keep_args(struct dft_thread *self, const struct dftrace_arg *args, uint32_t count)
{
    keep_args(self, NULL, args, count);
}

void dft_region_keep_args(struct dft_thread *self, const struct dftrace_arg *args, uint32_t count)
{
    if (args && count)
        keep_args(self, dft_region_args(self), args, count);
}

/* Of the innermost open region. */
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

/* Of an open region that need not be the innermost one. */
static void arg_of(struct dftrace_site *site, const struct dftrace_arg *arg)
{
    struct dft_thread *self = dft_annotate_thread();
    uint32_t from;

    if (!self)
        return;
    from = self->args_used;
    dft_annotate_keep_args(self, arg, 1);
    if (self->args_used == from || !dft_region_give_args(self, dft_annotate_site(self, site, "APP"), from))
        return;
    self->args_used = (uint16_t)from;
    dft_misuse(self, DFT_MISUSE_ARG_ALONE, 1);
}

/* --- regions ------------------------------------------------------------------------------------------------------ */

static void region_begin_args(struct dftrace_site *site, const struct dftrace_arg *args, uint32_t count)
{
    struct dft_thread *self = dft_annotate_thread();

    if (!self)
        return;
    dft_run_break_all(self);
    dft_region_begin(self, dft_annotate_site(self, site, "APP"), dft_ticks(), 0);
    dft_region_keep_args(self, args, count);
}

static void region_begin(struct dftrace_site *site)
{
    struct dft_thread *self = dft_annotate_thread();
    uint64_t name;

    if (__builtin_expect(self == NULL, 0))
        return;
    if (__builtin_expect(self->runs_open, 0))
        dft_run_break_all(self);
    name = dft_annotate_site(self, site, "APP");
    if (__builtin_expect(!dft_region_begin_quick(self, name), 0))
        dft_region_begin(self, name, dft_ticks(), 0);
}

static void end_region(struct dft_thread *self, uint64_t name, uint64_t end, const struct dftrace_arg *args,
                       uint32_t count)
{
    uint16_t from = self->args_used;
    int within;

    if (count)
        dft_annotate_keep_args(self, args, count);
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
    dft_run_break_all(self);
    end_region(self, dft_annotate_site(self, site, "APP"), end, args, count);
}

static void region_end(struct dftrace_site *site)
{
    uint64_t end = dft_ticks(), name;
    struct dft_thread *self = dft_annotate_thread();

    if (__builtin_expect(self == NULL, 0))
        return;
    if (__builtin_expect(self->runs_open, 0))
        dft_run_break_all(self);
    name = dft_annotate_site(self, site, "APP");
    if (__builtin_expect(!dft_region_end_quick(self, name, end), 0))
        end_region(self, name, end, NULL, 0);
}

/* --- points ------------------------------------------------------------------------------------------------------- */

static void instant_args(struct dftrace_site *site, const struct dftrace_arg *args, uint32_t count)
{
    struct dft_thread *self = dft_annotate_thread();
    uint32_t from;

    if (!self)
        return;
    from = dft_args_begin(self);
    dft_annotate_keep_args(self, args, count);
    dft_annotate_put_point(self, DFT_OP_INSTANT, dft_annotate_site(self, site, "APP"), NULL, 0, from);
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
        put_value(self, DFT_OP_METADATA, dft_annotate_name(self, scope ? scope : "APP", arg->key), *arg);
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

/* --- what programs see -------------------------------------------------------------------------------------------- */

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
};

void dft_annotate_enable(void)
{
    dftrace_api_v1.enabled = 1;
}

int dft_annotate_is_enabled(void)
{
    return dftrace_api_v1.enabled;
}
