/* SPDX-License-Identifier: MIT */
/* The slow parts of an append: full rings, records of several slots, definitions of names. */
#include "thread/append.h"

#include <string.h>

#include "format/calls.h"
#include "os/shared_tls.h"

#define ROW_TRIES 64 /* attempts to find free slots in a row */

/* Counts a record as lost. Returns -1. */
static int drop(struct dft_thread *self, enum dft_drop reason)
{
    atomic_fetch_add_explicit(&self->ring->dropped[reason], 1, memory_order_relaxed);
    return -1;
}

static uint64_t occupied(const struct dft_ring *ring)
{
    return atomic_load_explicit(&ring->head, memory_order_relaxed) - dft_ring_tail(ring);
}

void dft_ring_pressure(struct dft_thread *self, uint64_t sequence)
{
    (void)sequence;
    dft_thread_hooks.drain(self);
}

/* A slot that is not free stays unchanged. The function tries the next numbers until the ring is
 * full. */
struct dft_ring_place dft_ring_reserve_slow(struct dft_thread *self)
{
    for (uint32_t tries = 0; tries < 2 * DFT_RING_SLOTS_MAX; tries++) {
        struct dft_ring *ring = self->ring;
        struct dft_slot *slot;
        uint64_t sequence;
        uint32_t marker;

        if (occupied(ring) >= ring->capacity) {
            dft_thread_hooks.drain(self);
            if (occupied(self->ring) >= self->ring->capacity && !dft_thread_hooks.next_spare(self))
                break;
            continue;
        }
        sequence = dft_own_add(&ring->head, 1);
        slot = dft_ring_slot(ring, sequence);
        marker = atomic_load_explicit(&slot->marker, memory_order_relaxed);
        if (dft_slot_state(marker) == DFT_SLOT_FREE &&
            dft_own_claim(&slot->marker, marker, dft_ring_marker(ring, sequence, DFT_SLOT_BUSY)))
            return (struct dft_ring_place){slot, sequence};
    }
    drop(self, dft_is_sandboxed() ? DFT_DROP_SANDBOX : DFT_DROP_RING_FULL);
    return (struct dft_ring_place){NULL, 0};
}

/* Reserves `n` busy slots in a row and returns their first number in *first. Returns -1 when not
 * all of them are free; the slots are then released. */
static inline __attribute__((always_inline)) int reserve_row(struct dft_thread *self, uint32_t n, uint64_t *first)
{
    struct dft_ring *ring = self->ring;
    uint32_t got = 0;

    *first = dft_own_add(&ring->head, n);
    for (; got < n; got++) {
        struct dft_slot *slot = dft_ring_slot(ring, *first + got);
        uint32_t marker = atomic_load_explicit(&slot->marker, memory_order_relaxed);

        if (dft_slot_state(marker) != DFT_SLOT_FREE ||
            !dft_own_claim(&slot->marker, marker, dft_ring_marker(ring, *first + got, DFT_SLOT_BUSY)))
            break;
    }
    if (got == n)
        return 0;
    while (got-- > 0)
        atomic_store_explicit(&dft_ring_slot(ring, *first + got)->marker,
                              dft_ring_marker(ring, *first + got, DFT_SLOT_FREE), memory_order_relaxed);
    return -1;
}

static void fill_parts(const struct dft_ring *ring, uint64_t first, const struct dft_pieces *items)
{
    struct dft_slot_part *part = NULL;
    uint32_t number = 0;

    for (uint32_t i = 0; i < items->count; i++)
        for (uint32_t done = 0; done < items->length[i];) {
            uint32_t n = items->length[i] - done;

            if (!part || part->used == DFT_PART_BYTES) {
                part = (struct dft_slot_part *)dft_ring_slot(ring, first + ++number);
                part->part = (uint16_t)number;
                part->used = 0;
            }
            if (n > (uint32_t)(DFT_PART_BYTES - part->used))
                n = DFT_PART_BYTES - part->used;
            memcpy(part->payload + part->used, (const char *)items->at[i] + done, n);
            part->used = (uint16_t)(part->used + n);
            done += n;
        }
}

static int make_room(struct dft_thread *self, uint32_t n)
{
    if (occupied(self->ring) + n <= self->ring->capacity)
        return 0;
    dft_thread_hooks.drain(self);
    if (occupied(self->ring) + n <= self->ring->capacity || dft_thread_hooks.next_spare(self))
        return 0;
    return -1;
}

/* Fills in a record except its marker. */
static struct dft_slot *fill_record(struct dft_ring *ring, uint64_t first, uint32_t n, const struct dft_slot *record,
                                    const struct dft_pieces *items)
{
    struct dft_slot *slot = dft_ring_slot(ring, first);

    fill_parts(ring, first, items);
    for (uint32_t i = 1; i < n; i++)
        atomic_store_explicit(&dft_ring_slot(ring, first + i)->marker, dft_ring_marker(ring, first + i, DFT_SLOT_PART),
                              memory_order_release);
    memcpy((char *)slot + sizeof slot->marker, (const char *)record + sizeof slot->marker,
           sizeof *slot - sizeof slot->marker);
    slot->slots = (uint8_t)n;
    return slot;
}

/* Reserves `n` slots in a row. Returns their ring, or NULL with the record dropped and counted. */
static inline __attribute__((always_inline)) struct dft_ring *reserve_slots(struct dft_thread *self, uint32_t n,
                                                                            uint64_t *first)
{
    struct dft_ring *ring;
    int tries = 0;

    do {
        if (make_room(self, n) || tries++ == ROW_TRIES) {
            drop(self, dft_is_sandboxed() ? DFT_DROP_SANDBOX : DFT_DROP_RING_FULL);
            return NULL;
        }
        ring = self->ring;
    } while (reserve_row(self, n, first));
    return ring;
}

/* After slots are busy: either the owner sees dft_late, or the finaliser sees the slots. */
static int is_late(void)
{
    __asm__ volatile("" : : : "memory");
    return *(volatile int *)&dft_late;
}

int dft_append_slots(struct dft_thread *self, const struct dft_slot *record, const struct dft_pieces *items,
                     struct dft_burst *run)
{
    uint32_t bytes = 0, n;
    struct dft_ring *ring;
    uint64_t first;
    int late;

    if (dft_vfork_mark == DFT_MARK_SHARED_TLS && dft_shared_tls_is_child()) {
        dft_shared_tls_drop();
        return -1;
    }
    for (uint32_t i = 0; i < items->count; i++)
        bytes += items->length[i];
    n = 1 + (bytes + DFT_PART_BYTES - 1) / DFT_PART_BYTES;
    if (n > DFT_RECORD_SLOTS_MAX)
        return drop(self, DFT_DROP_TOO_LONG);
    ring = reserve_slots(self, n, &first);
    if (!ring)
        return -1;
    late = is_late();
    if (run) {
        run->record_stream = ring->stream;
        atomic_store_explicit(&run->record, first + 1, memory_order_release);
    }
    dft_ring_commit(self, fill_record(ring, first, n, record, items), first + n - 1, late);
    return 0;
}

/* --- names ------------------------------------------------------------------------------------ */

/* A definition is a record with one item, its text. */
struct definition {
    uint64_t id;
    struct dft_text text;
    uint32_t slots;
    uint8_t bits;
};

#define BEFORE_TEXT 5u /* tag and length */

static struct definition define(uint64_t id, struct dft_text text)
{
    const uint32_t most = (DFT_RECORD_SLOTS_MAX - 1) * DFT_PART_BYTES - BEFORE_TEXT;
    struct definition name = {.id = id, .text = text};

    if (text.length > most) {
        name.text.length = most;
        name.bits = DFT_BIT_CUT;
    }
    name.slots = 1 + (BEFORE_TEXT + name.text.length + DFT_PART_BYTES - 1) / DFT_PART_BYTES;
    return name;
}

static void fill_text(const struct dft_ring *ring, uint64_t first, const struct definition *name)
{
    const char *from = name->text.bytes;
    uint32_t left = name->text.length;

    for (uint32_t i = 1; i < name->slots; i++) {
        struct dft_slot_part *part = (struct dft_slot_part *)dft_ring_slot(ring, first + i);
        uint32_t used = i == 1 ? BEFORE_TEXT : 0, n = DFT_PART_BYTES - used < left ? DFT_PART_BYTES - used : left;

        if (i == 1) {
            part->payload[0] = DFT_ITEM_TEXT;
            memcpy(part->payload + 1, &name->text.length, 4);
        }
        memcpy(part->payload + used, from, n);
        part->part = (uint16_t)i;
        part->used = (uint16_t)(used + n);
        from += n;
        left -= n;
        atomic_store_explicit(&part->marker, dft_ring_marker(ring, first + i, DFT_SLOT_PART), memory_order_release);
    }
}

/* Fills in the record except its marker. */
static struct dft_slot *fill_name(const struct dft_ring *ring, uint64_t first, const struct definition *name)
{
    struct dft_slot *slot = dft_ring_slot(ring, first);

    fill_text(ring, first, name);
    memset((char *)slot + sizeof slot->marker, 0, sizeof *slot - sizeof slot->marker);
    slot->call = DFT_CALL_NAME;
    slot->bits = name->bits;
    slot->slots = (uint8_t)name->slots;
    slot->file = name->id;
    return slot;
}

void dft_name_send(struct dft_thread *self, uint64_t id, struct dft_text text)
{
    const struct definition name = define(id, text);
    struct dft_ring *ring;
    uint64_t first;
    int late;

    if (dft_vfork_mark == DFT_MARK_SHARED_TLS && dft_shared_tls_is_child())
        return;
    ring = reserve_slots(self, name.slots, &first);
    if (!ring)
        return;
    late = is_late();
    dft_ring_commit(self, fill_name(ring, first, &name), first + name.slots - 1, late);
    self->sent[id & (DFT_SENT_NAMES - 1)] = id;
}

int dft_name_leave(struct dft_thread *self, const struct dft_name *name)
{
    struct definition left = define(name->id, name->text);
    struct dft_ring *ring = self->ring;
    uint64_t first;

    if (name->cut)
        left.bits = DFT_BIT_CUT;
    if (!ring->offset || occupied(ring) + left.slots > ring->capacity || reserve_row(self, left.slots, &first))
        return -1;
    atomic_store_explicit(&fill_name(ring, first, &left)->marker, dft_ring_marker(ring, first, DFT_SLOT_VALID),
                          memory_order_release);
    return 0;
}

/* --- regions ---------------------------------------------------------------------------------- */

uint64_t dft_ring_deep_region(const struct dft_thread *self, uint32_t depth)
{
    if (depth > DFT_REGIONS_MAX)
        depth = DFT_REGIONS_MAX;
    return self->deep ? self->deep[depth - 1 - DFT_OPEN_REGIONS].region.name
                      : self->home->regions[DFT_OPEN_REGIONS - 1].name;
}
