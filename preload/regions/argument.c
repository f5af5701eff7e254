/* SPDX-License-Identifier: MIT */
/* Owns the arguments of annotations: items in the head of the thread's ring, those of open regions
 * first, in the order in which the regions began; behind them those of a point, or of an end, that
 * is being put together. */
#include <string.h>

#include "ring/names.h"
#include "regions/annotate.h"
#include "os/clock.h"
#include "settings/config.h"

#define STRING_MAX  4096u
#define ARGS_SPARED 128u /* what a text that is cut leaves for arguments behind it */

/* `of`: the word of the region that they are of, NULL of those of a point, or of the end of a
 * region: nobody else is to see them. */
static void mark_cut(struct dft_thread *self, _Atomic uint32_t *of)
{
    __atomic_fetch_or(&self->args_used, (uint16_t)DFT_ARGS_CUT, __ATOMIC_RELAXED);
    if (of)
        atomic_fetch_or_explicit(of, DFT_REGION_ARGS_CUT, memory_order_relaxed);
    dft_misuse(self, DFT_MISUSE_ARG_CUT, 1);
}

/* The item at `at` is whole, and those that handlers have put behind it meanwhile. Where it is not
 * the first that is not shown yet, the caller is a handler, and who it interrupted shows it. */
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

/* The bytes of a text that is cut here, without the half of a character at their end. */
static uint32_t cut_text(const char *text, uint32_t length)
{
    for (uint32_t n = length; n > 0 && length - n < 3; n--)
        if ((text[n] & 0xc0) != 0x80)
            return n;
    return length;
}

static void keep(struct dft_thread *self, _Atomic uint32_t *of, uint8_t tag, uint64_t key, const void *value,
                 uint32_t length)
{
    uint32_t with_length = tag == DFT_ITEM_ARG_STRING ? 4 : 0, bytes = 9 + with_length + length;
    uint32_t used = __atomic_load_n(&self->args_used, __ATOMIC_RELAXED) & ~DFT_ARGS_CUT;

    if (with_length && used + bytes > DFT_ARGS_BYTES && used + 13 + ARGS_SPARED < DFT_ARGS_BYTES) {
        length = cut_text(value, DFT_ARGS_BYTES - ARGS_SPARED - used - 13);
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

static uint32_t bytes_of(const uint8_t *item)
{
    uint32_t length = 0;

    if (*item != DFT_ITEM_ARG_STRING)
        return 17;
    memcpy(&length, item + 9, 4);
    return 13 + length;
}

/* A region may get a number again and again, and has room for few: where its last argument of this key is a number of
 * the same kind, that one changes. Returns nonzero when it did. */
static int change_number(struct dft_thread *self, _Atomic uint32_t *of, uint8_t tag, uint64_t key, uint64_t value)
{
    uint32_t word = atomic_load_explicit(of, memory_order_relaxed), end = dft_region_args_end(word);
    struct dft_ring *home = self->home; /* a handler's drain may move the thread to another one */
    uint8_t *items = home->args, *found = NULL;

    for (uint32_t at = dft_region_args_from(word); at < end && end <= DFT_ARGS_BYTES; at += bytes_of(items + at))
        if (!memcmp(items + at + 1, &key, 8))
            found = items + at;
    if (!found || *found != tag)
        return 0;
    memcpy(found + 9, &value, 8);
    atomic_signal_fence(memory_order_seq_cst);
    return home == *(struct dft_ring *volatile *)&self->home;
}

static uint8_t tag_of(const struct dftrace_arg *number)
{
    return number->type ? DFT_ITEM_ARG_DOUBLE : DFT_ITEM_ARG_INT;
}

static void keep_string(struct dft_thread *self, _Atomic uint32_t *of, const char *key, const char *value)
{
    if (value)
        keep(self, of, DFT_ITEM_ARG_STRING, dft_names_define(self, "", key), value,
             (uint32_t)strnlen(value, STRING_MAX));
    else
        dft_misuse(self, DFT_MISUSE_NULL, 1);
}

void dft_annotate_keep_own(struct dft_thread *self, const char *key, const char *text)
{
    keep_string(self, NULL, key, text);
}

void dft_annotate_keep_int(struct dft_thread *self, const char *key, int64_t value)
{
    keep(self, NULL, DFT_ITEM_ARG_INT, dft_names_define(self, "", key), &value, 8);
}

static void keep_number(struct dft_thread *self, _Atomic uint32_t *of, const struct dftrace_arg *arg)
{
    uint64_t key = dft_names_define(self, "", arg->key);

    if (!of || !change_number(self, of, tag_of(arg), key, (uint64_t)arg->value.integer))
        keep(self, of, tag_of(arg), key, &arg->value, 8);
}

static void keep_args(struct dft_thread *self, _Atomic uint32_t *of, const struct dftrace_arg *args, uint32_t count)
{
    for (uint32_t i = 0; args && i < count; i++)
        if (args[i].type != 2)
            keep_number(self, of, &args[i]);
        else if (!dft_config.private_texts)
            keep_string(self, of, args[i].key, args[i].value.string);
}

/* --- relations to entities -------------------------------------------------------------------- */

#define NUMBER_BYTES    17u
#define RELATIONS_BYTES (DFT_ARGS_BYTES / 2) /* the rest is for other arguments, and for points within: declarations */

static int is_relation(const char *key)
{
    static const char *const names[] = {"used:", "generated:", "updated:", "invalidated:"};

    for (int i = 0; key && i < 4; i++)
        if (!strncmp(key, names[i], strlen(names[i])))
            return strnlen(key + strlen(names[i]), 17) == 16;
    return 0;
}

static void put_number(struct dft_thread *self, uint8_t item[NUMBER_BYTES], const char *name, uint64_t value)
{
    uint64_t key = dft_names_define(self, "", name);

    *item = DFT_ITEM_ARG_INT;
    memcpy(item + 1, &key, 8);
    memcpy(item + 9, &value, 8);
}

int dft_annotate_put_apart(struct dft_thread *self, uint64_t region, const struct dftrace_arg *arg)
{
    uint32_t used = __atomic_load_n(&self->args_used, __ATOMIC_RELAXED) & ~DFT_ARGS_CUT;
    uint8_t items[2 * NUMBER_BYTES];
    struct dft_slot record = {
        .start = dft_ticks(), .call = DFT_CALL_ANNOTATION + DFT_OP_METADATA, .region = region, .offset = -1, .fd = -1};
    uint32_t from;

    if (used + NUMBER_BYTES <= RELATIONS_BYTES || arg->type || !is_relation(arg->key))
        return 0;
    dft_region_innermost(self, &record.depth);
    record.file = dft_names_define(self, "dftracer", "RR");
    put_number(self, items, arg->key, (uint64_t)arg->value.integer);
    put_number(self, items + NUMBER_BYTES, "region", region); /* other formats know no region of metadata */
    from = dft_args_begin(self);
    dft_annotate_put(self, &record, 0, items, sizeof items, from);
    return 1;
}

/* --- what others call ------------------------------------------------------------------------- */

void dft_annotate_keep_args(struct dft_thread *self, const struct dftrace_arg *args, uint32_t count)
{
    keep_args(self, NULL, args, count);
}

int dft_annotate_change(struct dft_thread *self, _Atomic uint32_t *of, const struct dftrace_arg *arg)
{
    return arg->type != 2 &&
           change_number(self, of, tag_of(arg), dft_names_define(self, "", arg->key), (uint64_t)arg->value.integer);
}

void dft_region_keep_args(struct dft_thread *self, const struct dftrace_arg *args, uint32_t count)
{
    _Atomic uint32_t *of = dft_region_args(self);
    uint16_t depth;
    uint64_t region = dft_region_innermost(self, &depth);

    for (uint32_t i = 0; args && i < count; i++)
        if (!region || !dft_annotate_put_apart(self, region, &args[i]))
            keep_args(self, of, &args[i], 1);
}
