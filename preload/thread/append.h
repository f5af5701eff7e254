/* SPDX-License-Identifier: MIT */
/* Appends records to the calling thread's ring. There is no lock and no guard. A
 * signal handler in the middle of an append appends its own record. A longjmp out of an append
 * costs one slot. */
#ifndef DFT_APPEND_H
#define DFT_APPEND_H

#include "format/event.h"
#include "os/self.h"
#include "thread/state.h"

/* Adds to a number that only this thread and its handlers change. One instruction does this, and
 * needs no bus lock. A reader of the live file that sees the sum sees what this thread did before. */
static inline uint64_t dft_own_add(_Atomic uint64_t *number, uint64_t more)
{
#if defined(__x86_64__)
    __asm__ volatile("xaddq %0, %1" : "+r"(more), "+m"(*(uint64_t *)number) : : "memory", "cc");
    return more;
#else
    return atomic_fetch_add_explicit(number, more, memory_order_release);
#endif
}

/* Marks a slot busy if the slot is still free. Drains of other threads only free slots, so the
 * function must exclude only this thread's handlers. */
static inline int dft_own_claim(_Atomic uint32_t *marker, uint32_t seen, uint32_t busy)
{
#if defined(__x86_64__)
    int done;

    __asm__ volatile("cmpxchgl %3, %1" : "=@ccz"(done), "+m"(*(uint32_t *)marker), "+a"(seen) : "r"(busy) : "memory");
    return done;
#else
    return atomic_compare_exchange_strong_explicit(marker, &seen, busy, memory_order_acquire, memory_order_relaxed);
#endif
}

/* Called when a ring is full enough, or late in the process. Drains the ring, or counts. */
void dft_ring_pressure(struct dft_thread *self, uint64_t sequence);
/* A slot and its number. */
struct dft_ring_place {
    struct dft_slot *slot;
    uint64_t sequence;
};

/* The reservation found no free slot. Returns another slot, or NULL with the event counted as
 * lost. */
struct dft_ring_place dft_ring_reserve_slow(struct dft_thread *self);

/* A busy slot of this thread's own, or NULL. */
static inline __attribute__((always_inline)) struct dft_ring_place dft_ring_reserve(struct dft_thread *self)
{
    struct dft_ring *ring = self->ring;
    uint64_t number = dft_own_add(&ring->head, 1);
    /* of this ring: a handler may just have switched to another ring */
    struct dft_slot *slot = dft_ring_slot(ring, number);
    uint32_t marker = atomic_load_explicit(&slot->marker, memory_order_relaxed);

    if (__builtin_expect(dft_slot_state(marker) == DFT_SLOT_FREE &&
                             dft_own_claim(&slot->marker, marker, dft_ring_marker(ring, number, DFT_SLOT_BUSY)),
                         1))
        return (struct dft_ring_place){slot, number};
    return dft_ring_reserve_slow(self);
}

/* Makes a filled slot valid. */
static inline void dft_ring_commit(struct dft_thread *self, struct dft_slot *slot, uint64_t sequence, int late)
{
    uint32_t busy = atomic_load_explicit(&slot->marker, memory_order_relaxed);

    atomic_store_explicit(&slot->marker, busy + (DFT_SLOT_VALID - DFT_SLOT_BUSY), memory_order_release);
    if (__builtin_expect(
            (int)(sequence - atomic_load_explicit(&self->ring->tail, memory_order_relaxed) >= self->drain_at) | late,
            0))
        dft_ring_pressure(self, sequence);
}

/* The pieces of the items of a long record, in order. */
struct dft_pieces {
    const void *at[8];
    uint32_t length[8];
    uint32_t count;
};

static inline void dft_pieces_add(struct dft_pieces *pieces, const void *at, uint32_t length)
{
    pieces->at[pieces->count] = at;
    pieces->length[pieces->count++] = length;
}

/* Appends a record with further slots for its items. `run`, if any, learns where its record stands before the record is
 * valid. Returns 0, or -1 with the record dropped and counted. */
int dft_append_slots(struct dft_thread *self, const struct dft_slot *record, const struct dft_pieces *items,
                     struct dft_burst *run);

/* Has this stream carried the text of the name? */
static inline int dft_name_was_sent(const struct dft_thread *self, uint64_t id)
{
    return self->sent[id & (DFT_SENT_NAMES - 1)] == id;
}

/* Appends the definition of a name. It belongs to every process: a vfork child's is no other. */
void dft_name_send(struct dft_thread *self, uint64_t id, struct dft_text text);

/* At the end, for readers of the live file. Leaves a name whose block could not be written, where a
 * slot is free. Drains nothing. Returns 0, or -1 when no slot is free. */
int dft_name_leave(struct dft_thread *self, const struct dft_name *name);

/* Counts a misuse of the interface of dftrace.h by the program. */
static inline void dft_misuse(struct dft_thread *self, enum dft_misuse what, uint64_t times)
{
    atomic_fetch_add_explicit(&self->home->misuse[what], times, memory_order_relaxed);
}

/* The name of the innermost region, where more than DFT_OPEN_REGIONS are open. */
uint64_t dft_ring_deep_region(const struct dft_thread *self, uint32_t depth);

/* The innermost open region. 0: none. */
static inline uint64_t dft_region_innermost(const struct dft_thread *self, uint16_t *depth)
{
    uint32_t open = atomic_load_explicit(&self->home->depth, memory_order_relaxed);

    *depth = (uint16_t)open;
    if (__builtin_expect(open > DFT_OPEN_REGIONS, 0))
        return dft_ring_deep_region(self, open);
    return open == 0 ? 0 : self->home->regions[open - 1].name;
}

#endif
