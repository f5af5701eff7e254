/* SPDX-License-Identifier: MIT */
/* Copies of the tables of live files: of processes that are gone, or go on meanwhile. */
#include "format/live_table.h"

#include <errno.h>
#include <string.h>

#include "format/live_format.h"
#include "live_table_inside.h"

#define COPY_TRIES 256

const struct dft_live_table *dft_live_table_find(const void *bytes, size_t length, size_t *offset)
{
    if (*offset < DFT_LIVE_PAGE)
        *offset = DFT_LIVE_PAGE;
    for (; *offset + DFT_LIVE_TABLE_BYTES <= length; *offset += DFT_LIVE_PAGE) {
        const struct dft_live_table *table = (const struct dft_live_table *)((const char *)bytes + *offset);

        if (__atomic_load_n(&table->magic, __ATOMIC_ACQUIRE) != DFT_LIVE_TABLE_MAGIC ||
            table->bytes != DFT_LIVE_TABLE_BYTES)
            continue;
        *offset += DFT_LIVE_TABLE_BYTES;
        return table;
    }
    return NULL;
}

static uint64_t get(const _Atomic uint64_t *number)
{
    return atomic_load_explicit((_Atomic uint64_t *)(uintptr_t)number, memory_order_acquire);
}

/* How far the owner has come. */
struct moment {
    uint64_t calls_first, files_first, events, ticket, applying;
    uint32_t low, high, written;
};

static struct moment moment_of(const struct dft_live_table *table)
{
    return (struct moment){.calls_first = get(&table->calls_first),
                           .files_first = get(&table->files_first),
                           .events = get(&table->events),
                           .ticket = get(&table->ticket),
                           .applying = get(&table->applying),
                           .low = atomic_load((_Atomic uint32_t *)(uintptr_t)&table->low),
                           .high = atomic_load((_Atomic uint32_t *)(uintptr_t)&table->high),
                           .written = atomic_load((_Atomic uint32_t *)(uintptr_t)&table->written)};
}

static int is_same(const struct moment *a, const struct moment *b)
{
    return a->calls_first == b->calls_first && a->files_first == b->files_first && a->events == b->events &&
           a->ticket == b->ticket && a->applying == b->applying && a->low == b->low && a->high == b->high &&
           a->written == b->written;
}

/* One copy. Returns 0, or -EAGAIN when the owner has come further meanwhile. */
static int copy_once(struct dft_live_table *to, const struct dft_live_table *from)
{
    struct moment before = moment_of(from), copied, after;

    memcpy(to, from, DFT_LIVE_TABLE_BYTES);
    atomic_thread_fence(memory_order_acquire);
    after = moment_of(from);
    copied = moment_of(to);
    return is_same(&before, &copied) && is_same(&copied, &after) ? 0 : -EAGAIN;
}

/* --- of an owner that never rests -------------------------------------------------------------- */

#define PIECE_BYTES 512u
#define PIECE_TRIES 1024
#define STEP_TRIES  65536

_Static_assert(sizeof(struct dft_live_row) <= PIECE_BYTES && sizeof(struct dft_live_file) <= PIECE_BYTES &&
                   sizeof(struct dft_live_pattern) <= PIECE_BYTES,
               "an object is one piece");

/* Waits until the step that goes on is over. Returns 0, or -EAGAIN: its owner rests in it, so that a
 * whole copy may succeed. */
static int wait_for_step(const struct dft_live_table *from)
{
    uint64_t ticket = get(&from->ticket);

    for (int i = 0; i < STEP_TRIES; i++)
        if (get(&from->events) >= ticket || get(&from->ticket) < ticket)
            return 0;
    return -EAGAIN;
}

/* An object as it was between two steps that change it. Each step of which the first reading has a
 * part is over before the second one begins, and a later step would make a difference: sums only
 * grow. So what is read twice alike is whole. Other objects may change meanwhile. */
static int copy_piece(struct dft_live_table *to, const struct dft_live_table *from, uint32_t place, uint32_t bytes)
{
    char first[PIECE_BYTES];
    char *second = dft_live_at(to, place);

    for (int i = 0; i < PIECE_TRIES; i++) {
        memcpy(first, dft_live_at(from, place), bytes);
        atomic_thread_fence(memory_order_acquire);
        if (wait_for_step(from))
            return -EAGAIN;
        memcpy(second, dft_live_at(from, place), bytes);
        atomic_thread_fence(memory_order_acquire);
        if (!memcmp(first, second, bytes))
            return 0;
    }
    return -EAGAIN;
}

/* The objects of the lower end. What files refer to is copied before the files, so that it never has
 * more than they. */
static int copy_objects(struct dft_live_table *to, const struct dft_live_table *from, uint32_t low, int files)
{
    uint32_t bytes;
    int status = 0;

    for (uint32_t at = DFT_LIVE_ARENA; !status && at < low; at += bytes / 8) {
        const struct dft_live_object *object = dft_live_at(from, at);

        bytes = dft_live_object_bytes(object);
        if (!bytes || at + bytes / 8 > low)
            return -EAGAIN;
        if ((object->type == DFT_LIVE_FILE) == files)
            status = copy_piece(to, from, at, bytes);
    }
    return status;
}

/* Objects behind `low` were made while the others were copied. They have later events alone, so
 * references to them are dropped. Without its pattern, what of a file was touched is not known. */
static void drop_references(struct dft_live_table *to, const struct dft_live_table *from, uint32_t low)
{
    uint32_t bytes;

    for (uint32_t at = DFT_LIVE_ARENA; at < low; at += bytes / 8) {
        struct dft_live_object *object = dft_live_at(to, at);
        struct dft_live_file *file = dft_live_at(to, at);

        bytes = dft_live_object_bytes(object);
        if (!bytes)
            return;
        for (uint32_t i = 0; object->type == DFT_LIVE_HISTOGRAM && object->other >= low && i < low; i++)
            object->other = dft_live_is_place(from, object->other, sizeof(struct dft_live_chunk))
                                ? ((const struct dft_live_object *)dft_live_at(from, object->other))->other
                                : 0;
        if (object->type != DFT_LIVE_FILE)
            continue;
        if (file->data >= low)
            file->data = file->pattern = 0;
        if (file->pattern >= low && dft_live_is_object(to, file->data, DFT_LIVE_DATA, sizeof(struct dft_live_data)))
            ((struct dft_live_data *)dft_live_at(to, file->data))->object.number = 1;
        if (file->pattern >= low)
            file->pattern = 0;
    }
}

/* Was the table written, or is it being, since `to` was begun? */
static int is_written(const struct dft_live_table *to, const struct dft_live_table *from)
{
    atomic_thread_fence(memory_order_acquire);
    return get(&from->calls_first) != get(&to->calls_first) || get(&from->files_first) != get(&to->files_first) ||
           atomic_load((_Atomic uint32_t *)(uintptr_t)&from->written);
}

/* Each object as it was at a moment, though not all at the same one. Nothing is missing of the first
 * `events` events. No step is left to finish. */
static int copy_pieces(struct dft_live_table *to, const struct dft_live_table *from)
{
    const uint32_t row = sizeof(struct dft_live_row), end = DFT_LIVE_TABLE_BYTES / 8;
    uint64_t events;
    uint32_t low, high;
    int status;

    memcpy(to, from, sizeof *to);
    atomic_store(&to->calls_first, get(&from->calls_first));
    atomic_store(&to->files_first, get(&from->files_first));
    if (to->bytes != DFT_LIVE_TABLE_BYTES || is_written(to, from))
        return -EAGAIN;
    events = get(&from->events);
    atomic_store(&to->events, events);
    atomic_store(&to->ticket, events);
    atomic_store(&to->applying, events);
    low = atomic_load((_Atomic uint32_t *)(uintptr_t)&from->low);
    high = atomic_load((_Atomic uint32_t *)(uintptr_t)&from->high);
    if (low < DFT_LIVE_ARENA || low > high || high > end)
        return -EAGAIN;
    atomic_store(&to->low, low);
    atomic_store(&to->high, high);
    status = copy_objects(to, from, low, 0);
    if (!status)
        status = copy_objects(to, from, low, 1);
    for (uint32_t at = end; !status && at >= high + row / 8; at -= row / 8)
        status = copy_piece(to, from, at - row / 8, row);
    if (status || is_written(to, from))
        return status ? status : -EAGAIN;
    drop_references(to, from, low);
    return is_written(to, from) ? -EAGAIN : 0;
}

/* Does the step refer to what is there? */
static int step_fits(const struct dft_live_table *table)
{
    const struct dft_live_step *step = &table->step;
    uint32_t low = atomic_load((_Atomic uint32_t *)(uintptr_t)&table->low);

    if (low < DFT_LIVE_ARENA || low > table->bytes / 8 ||
        !dft_live_is_place(table, step->row, sizeof(struct dft_live_row)) || step->nfurther > DFT_LIVE_FURTHER ||
        step->end_ns < step->start_ns)
        return 0;
    if ((step->file && !dft_live_is_object(table, step->file, DFT_LIVE_FILE, sizeof(struct dft_live_file))) ||
        (step->data && !dft_live_is_object(table, step->data, DFT_LIVE_DATA, sizeof(struct dft_live_data))) ||
        (step->pattern &&
         (!dft_live_is_object(table, step->pattern, DFT_LIVE_PATTERN, sizeof(struct dft_live_pattern)) ||
          ((const struct dft_live_pattern *)dft_live_at(table, step->pattern))->touched.shift > 63)))
        return 0;
    for (int i = 0; i < DFT_LIVE_BINS; i++)
        if (step->counters[i] && (step->counters[i] < 2 * DFT_LIVE_ARENA || step->counters[i] >= 2 * low))
            return 0;
    for (uint32_t i = 0; i < step->nfurther; i++)
        if (!dft_live_is_place(table, step->further[i].place,
                               step->further[i].is_file ? sizeof(struct dft_live_file) : sizeof(struct dft_live_row)))
            return 0;
    return 1;
}

int dft_live_table_copy(struct dft_live_table *to, const struct dft_live_table *from, size_t bytes)
{
    int tries = 0, status;

    if (bytes < DFT_LIVE_TABLE_BYTES)
        return -EBADMSG;
    do {
        status = copy_once(to, from);
        if (status && from->magic == DFT_LIVE_TABLE_MAGIC && tries)
            status = copy_pieces(to, from);
    } while (status && ++tries < COPY_TRIES);
    if (status)
        return status;
    if (to->magic != DFT_LIVE_TABLE_MAGIC || to->bytes != DFT_LIVE_TABLE_BYTES || !to->width_ns)
        return -EBADMSG;
    if (get(&to->ticket) == get(&to->events) || get(&to->applying) != get(&to->ticket))
        return 0;
    if (!step_fits(to))
        return -EBADMSG;
    dft_live_apply(to);
    atomic_store(&to->events, get(&to->ticket));
    return 0;
}
