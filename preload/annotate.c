/* Owns the annotations: regions, instants, counters, metadata and arguments become records of the calling thread's ring. */
#include "annotate.h"

#include <stddef.h>
#include <string.h>

#include <dftrace/dftrace.h>

#include "clock.h"
#include "codec.h"
#include "ring.h"
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

static uint32_t copy(char *to, uint32_t room, const char *text)
{
    size_t n = text ? strnlen(text, room) : 0;

    memcpy(to, text ? text : "", n);
    return (uint32_t)n;
}

static void make_name(struct name *name, const char *category, const char *text)
{
    uint32_t n = copy(name->text, 64, category);

    name->text[n++] = 0;
    name->length = n + copy(name->text + n, NAME_ROOM - n, text);
    name->id = dft_name_id(name->text, name->length);
}

static void define(struct dft_thread *self, const struct name *name)
{
    struct dft_pieces text = {.count = 0};

    if (dft_name_was_sent(self, name->id))
        return;
    dft_pieces_add(&text, name->text, name->length);
    dft_name_send(self, name->id, &text);
}

/* The id of "category NUL name"; its text goes into the ring at its first use. */
static __attribute__((noinline)) uint64_t define_text(struct dft_thread *self, const char *category, const char *text)
{
    struct name name;

    make_name(&name, category, text);
    define(self, &name);
    return name.id;
}

static uint64_t site_id(struct dft_thread *self, struct dftrace_site *site)
{
    uint64_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);

    if (__builtin_expect(id != 0 && dft_name_was_sent(self, id), 1))
        return id;
    id = define_text(self, site->category ? site->category : "APP", site->name);
    __atomic_store_n(&site->id, id, __ATOMIC_RELAXED);
    return id;
}

static struct dft_thread *thread_if_on(void)
{
    if (dft_vfork_mark == DFT_MARK_LENT && dft_is_borrower())
        return NULL; /* the regions are those of the thread that it shares memory with */
    return dft_on & 8 /* DFT_ON_REGIONS */ ? dft_thread_get() : NULL;
}

/* --- regions ------------------------------------------------------------------------------------------------------ */

static void region_begin(struct dftrace_site *site)
{
    struct dft_thread *self = thread_if_on();
    uint32_t depth;
    uint64_t id;

    if (!self)
        return;
    dft_run_break_all(self);
    id = site_id(self, site);
    depth = atomic_load_explicit(&self->home->depth, memory_order_relaxed);
    if (depth < DFT_OPEN_REGIONS) {
        const struct dft_open_region region = {id, dft_ticks()};

        self->home->regions[depth] = region;
        self->args_of[depth] = self->args_used;
        atomic_store_explicit(&self->home->depth, depth + 1, memory_order_release);
        atomic_signal_fence(memory_order_seq_cst);
        self->home->regions[depth] = region; /* a handler's region may have stood there before the depth was ours */
    } else {
        atomic_store_explicit(&self->home->depth, depth + 1, memory_order_release);
    }
}

static void put(struct dft_thread *self, struct dft_slot *record, uint64_t duration, const struct dft_pieces *args)
{
    struct dft_pieces items = {.count = 0};
    uint8_t tag = DFT_ITEM_DURATION;

    record->duration = (uint32_t)duration;
    if (duration >> 32) {
        record->duration = 0;
        dft_pieces_add(&items, &tag, 1);
        dft_pieces_add(&items, &duration, 8);
    }
    for (uint32_t i = 0; i < args->count; i++)
        dft_pieces_add(&items, args->at[i], args->length[i]);
    dft_ring_put_any(self, record, &items);
}

/* The region is this thread's to record, unless the end of the process came first. Late, whoever claims its name has it; before that
 * the finaliser sees the new depth, or this thread that it is late. */
static int leave_region(struct dft_ring *home, uint32_t index)
{
    int late = *(volatile int *)&dft_late;
    uint64_t name = late ? dft_region_claim(&home->regions[index]) : 0;

    atomic_store_explicit(&home->depth, index, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    if (!late && __builtin_expect(*(volatile int *)&dft_late, 0)) {
        name = dft_region_claim(&home->regions[index]);
        late = 1;
    }
    return !late || name;
}

/* Ends the innermost region, which has this index. */
static void end_innermost(struct dft_thread *self, uint32_t index, uint64_t end)
{
    struct dft_ring *home = self->home;
    const struct dft_open_region region = home->regions[index];
    uint16_t from = self->args_of[index], to = self->args_used; /* a handler's region may take this index below */
    struct dft_pieces args = {.count = 0};
    struct dft_slot record = {.start = region.start,
                              .call = DFT_CALL_ANNOTATION + DFT_OP_REGION,
                              .bits = self->args_cut ? DFT_BIT_CUT : 0,
                              .file = region.name,
                              .offset = -1,
                              .region = index ? home->regions[index - 1].name : 0,
                              .fd = -1,
                              .depth = (uint16_t)index};

    if (leave_region(home, index)) {
        if (to > from)
            dft_pieces_add(&args, self->args + from, (uint32_t)(to - from));
        put(self, &record, dft_ticks_between(region.start, end), &args);
    }
    self->args_used = from;
    self->args_cut = 0;
}

/* The region's index, or -1 when it is not open. */
static int find_open(const struct dft_ring *home, uint32_t depth, uint64_t id)
{
    for (int i = (int)depth - 1; i >= 0; i--)
        if (home->regions[i].name == id)
            return i;
    return -1;
}

static void region_end(struct dftrace_site *site)
{
    uint64_t end = dft_ticks();
    struct dft_thread *self = thread_if_on();
    uint32_t depth;
    int index;

    if (!self)
        return;
    dft_run_break_all(self);
    depth = atomic_load_explicit(&self->home->depth, memory_order_relaxed);
    if (depth > DFT_OPEN_REGIONS) {
        atomic_store_explicit(&self->home->depth, depth - 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&self->ring->dropped[DFT_DROP_TOO_DEEP], 1, memory_order_relaxed);
        return;
    }
    index = depth ? find_open(self->home, depth, site_id(self, site)) : -1;
    while (index >= 0 && (int)depth > index)
        end_innermost(self, --depth, end);
}

/* --- points ------------------------------------------------------------------------------------------------------- */

static void put_point(struct dft_thread *self, enum dft_op op, uint64_t name, const struct dft_pieces *args)
{
    struct dft_slot record = {.start = dft_ticks(),
                              .call = (uint16_t)(DFT_CALL_ANNOTATION + op),
                              .bits = op == DFT_OP_INSTANT ? DFT_PHASE_INSTANT << DFT_SLOT_PHASE_SHIFT : 0,
                              .file = name,
                              .offset = -1,
                              .fd = -1};

    record.region = dft_region_innermost(self, &record.depth);
    put(self, &record, 0, args);
}

static void instant(struct dftrace_site *site)
{
    const struct dft_pieces none = {.count = 0};
    struct dft_thread *self = thread_if_on();

    if (self)
        put_point(self, DFT_OP_INSTANT, site_id(self, site), &none);
}

static void counter(struct dftrace_site *site, uint8_t tag, const void *value)
{
    struct dft_thread *self = thread_if_on();
    struct dft_pieces args = {.count = 0};
    uint64_t key;

    if (!self)
        return;
    key = define_text(self, "", "value");
    dft_pieces_add(&args, &tag, 1);
    dft_pieces_add(&args, &key, 8);
    dft_pieces_add(&args, value, 8);
    put_point(self, DFT_OP_COUNTER, site_id(self, site), &args);
}

static void counter_int(struct dftrace_site *site, int64_t value)
{
    counter(site, DFT_ITEM_ARG_INT, &value);
}

static void counter_double(struct dftrace_site *site, double value)
{
    counter(site, DFT_ITEM_ARG_DOUBLE, &value);
}

static void put_metadata(const char *category, const char *key, const char *value)
{
    struct dft_thread *self = thread_if_on();
    struct dft_pieces args = {.count = 0};
    uint8_t tag = DFT_ITEM_ARG_STRING;
    uint64_t value_key;
    uint32_t length;

    if (!self || !value)
        return;
    value_key = define_text(self, "", "value");
    length = (uint32_t)strnlen(value, STRING_MOST);
    dft_pieces_add(&args, &tag, 1);
    dft_pieces_add(&args, &value_key, 8);
    dft_pieces_add(&args, &length, 4);
    dft_pieces_add(&args, value, length);
    put_point(self, DFT_OP_METADATA, define_text(self, category, key), &args);
}

static void metadata(const char *key, const char *value)
{
    put_metadata("APP", key, value);
}

static void thread_name(const char *name)
{
    put_metadata("dftrace", "thread_name", name);
}

/* --- arguments ---------------------------------------------------------------------------------------------------- */

/* Keeps an item for the innermost open region; texts are cut, numbers are kept whole or not at all. */
static void keep_arg(uint8_t tag, const char *key, const void *value, uint32_t length)
{
    struct dft_thread *self = thread_if_on();
    uint32_t with_length = tag == DFT_ITEM_ARG_STRING ? 4 : 0, bytes = 9 + with_length + length, used;
    uint8_t *at;
    uint64_t id;

    if (!self || !atomic_load_explicit(&self->home->depth, memory_order_relaxed))
        return;
    id = define_text(self, "", key);
    used = __atomic_load_n(&self->args_used, __ATOMIC_RELAXED);
    if (with_length && used + bytes > DFT_ARGS_BYTES && used + 13 + ARGS_SPARED < DFT_ARGS_BYTES) {
        length = DFT_ARGS_BYTES - ARGS_SPARED - used - 13;
        bytes = 13 + length;
        self->args_cut = 1;
    }
    if (bytes > DFT_ARGS_BYTES)
        bytes = DFT_ARGS_BYTES + 1; /* the sum below must not overflow */
    used = __atomic_fetch_add(&self->args_used, (uint16_t)bytes, __ATOMIC_RELAXED); /* a handler's go behind */
    if (used + bytes > DFT_ARGS_BYTES) {
        __atomic_fetch_sub(&self->args_used, (uint16_t)bytes, __ATOMIC_RELAXED);
        self->args_cut = 1;
        return;
    }
    at = self->args + used;
    *at = tag;
    memcpy(at + 1, &id, 8);
    memcpy(at + 9, &length, with_length);
    memcpy(at + 9 + with_length, value, length);
}

static void arg_int(const char *key, int64_t value)
{
    keep_arg(DFT_ITEM_ARG_INT, key, &value, 8);
}

static void arg_double(const char *key, double value)
{
    keep_arg(DFT_ITEM_ARG_DOUBLE, key, &value, 8);
}

static void arg_string(const char *key, const char *value)
{
    if (value)
        keep_arg(DFT_ITEM_ARG_STRING, key, value, (uint32_t)strnlen(value, STRING_MOST));
}

/* --- the end -------------------------------------------------------------------------------------------------------- */

void dft_annotate_end_all(struct dft_thread *self, const char *what)
{
    uint64_t end = dft_ticks();
    uint32_t depth = atomic_load_explicit(&self->home->depth, memory_order_relaxed);

    if (depth > DFT_OPEN_REGIONS) {
        atomic_fetch_add_explicit(&self->ring->dropped[DFT_DROP_TOO_DEEP], depth - DFT_OPEN_REGIONS,
                                  memory_order_relaxed);
        depth = DFT_OPEN_REGIONS;
        atomic_store_explicit(&self->home->depth, depth, memory_order_relaxed);
    }
    while (depth > 0) {
        arg_string(DFT_ENDED_BY, what);
        end_innermost(self, --depth, end);
    }
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
};

void dft_annotate_enable(void)
{
    dftrace_api_v1.enabled = 1;
}
