/* SPDX-License-Identifier: MIT */
/* What becomes of a record: it goes to the calling thread's ring, or to its table. The hot path. */
#ifndef DFT_RING_H
#define DFT_RING_H

#include "format/calls.h"
#include "rows/rows.h"
#include "ring/stack.h"
#include "ring/threads.h"
#include "thread/append.h"

/* Appends a record, with further slots for its items, if there are any. */
void dft_ring_put_long(struct dft_thread *self, const struct dft_slot *record, const struct dft_pieces *items);

/* The same for a record of one slot, where not all calls are events, or call stacks are wanted. Returns
 * 0: it is to be an event of one slot. */
int dft_ring_put_elsewhere(struct dft_thread *self, const struct dft_slot *record);

/* Appends a record of one slot. `record` has all fields but the marker. */
static inline __attribute__((always_inline)) void dft_ring_put(struct dft_thread *self, const struct dft_slot *record)
{
    struct dft_slot *slot;
    struct dft_ring_place place;
    int late;

    if (__builtin_expect(self->mode | dft_stack_depth, 0)) {
        /* The copy keeps the record itself in registers: nothing takes its address. */
        const struct dft_slot copy = *record;

        if (self->mode == DFT_MODE_ROWS ? dft_rows_take(self, &copy) : dft_ring_put_elsewhere(self, &copy))
            return;
    }
    place = dft_ring_reserve(self);
    slot = place.slot;
    if (__builtin_expect(slot == NULL, 0))
        return;
    __asm__ volatile("" : : : "memory");
    /* after the slot is busy: either the owner sees dft_late, or the finaliser sees the slot */
    late = *(volatile int *)&dft_late;
    slot->size = record->size;
    slot->start = record->start;
    slot->duration = record->duration;
    slot->call = record->call;
    slot->bits = record->bits;
    slot->slots = 1;
    slot->file = record->file;
    slot->result = record->result;
    slot->offset = record->offset;
    slot->region = record->region;
    slot->fd = record->fd;
    slot->err = record->err;
    slot->depth = record->depth;
    dft_ring_commit(self, slot, place.sequence, late);
}

/* Appends any record. Takes the quick way for a record without items, unless others may run on this
 * thread's memory. */
static inline void dft_ring_put_any(struct dft_thread *self, const struct dft_slot *record,
                                    const struct dft_pieces *items)
{
    if (items->count || dft_vfork_mark)
        dft_ring_put_long(self, record, items);
    else
        dft_ring_put(self, record);
}

/* Appends a burst as a record. `open`: the burst in the live file, which learns where its record
 * stands, or NULL. */
void dft_ring_put_run(struct dft_thread *self, const struct dft_burst *run, struct dft_burst *open);

#endif
