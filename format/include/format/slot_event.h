/* SPDX-License-Identifier: MIT */
/* What the first slot of a record says, as an event (without its times and its call's position). */
#ifndef DFT_SLOT_EVENT_H
#define DFT_SLOT_EVENT_H

#include "format/calls.h"
#include "format/event.h"
#include "format/live_format.h"

/* Is this number one of calls or annotations? Here and below: `call` of a slot, without its marks. */
static inline int dft_slot_is_event(uint32_t call)
{
    return call < DFT_CALL_COUNT ? call != DFT_CALL_NONE
                                 : call >= DFT_CALL_ANNOTATION && call < DFT_CALL_ANNOTATION + DFT_OP_COUNT;
}

/* Is this one of calls, with its marks? */
static inline int dft_slot_is_call(uint32_t call)
{
    uint32_t number = dft_slot_number(call);

    return number > DFT_CALL_NONE && number < DFT_CALL_COUNT;
}

static inline uint8_t dft_slot_op(uint32_t call)
{
    return call < DFT_CALL_COUNT ? dft_call_rows[call].op : (uint8_t)(call - DFT_CALL_ANNOTATION);
}

/* What an operation's record uses fields for: size for flags where no bytes are moved, offset for
 * the mode. */
struct dft_meaning {
    uint8_t flags, mode;
};

static inline struct dft_meaning dft_meaning_of(uint8_t op)
{
    return (struct dft_meaning){.flags = dft_op_bytes(op) == DFT_BYTES_NOTHING, .mode = (uint8_t)dft_op_has_mode(op)};
}

/* What the record's first slot says, but for the times. Every field of the event is written. */
static inline __attribute__((always_inline)) void dft_slot_event(const struct dft_slot *slot, struct dft_event *event,
                                                                 struct dft_meaning meaning)
{
    int flags = meaning.flags, mode = meaning.mode;

    event->file = slot->file;
    event->file2 = 0;
    event->region = slot->region;
    event->size = flags ? 0 : slot->size;
    event->result = slot->result;
    event->offset = mode ? -1 : slot->offset;
    event->stack = 0;
    event->id = 0;
    event->calls = 1;
    event->unit = 1;
    event->flags = flags ? slot->size : 0;
    event->mode = mode ? (uint32_t)slot->offset : 0;
    event->fd = slot->fd;
    event->err = slot->err;
    event->depth = slot->depth;
    event->phase = slot->bits >> DFT_SLOT_PHASE_SHIFT;
    event->bits = (uint8_t)((slot->bits & 31) | (slot->call & DFT_SLOT_TURN) >> 10);
    if (slot->bits & DFT_SLOT_UNIT) {
        event->unit = (uint32_t)((uint64_t)slot->result >> 32);
        event->result = (int64_t)((uint64_t)slot->result & UINT32_MAX);
    }
}

/* An annotation's record: its file field is its name, and some operations say the phase. */
static inline void dft_slot_annotation(struct dft_event *event, uint8_t op)
{
    event->file = 0;
    if (op == DFT_OP_COUNTER || op == DFT_OP_METADATA)
        event->phase = op == DFT_OP_COUNTER ? DFT_PHASE_COUNTER : DFT_PHASE_METADATA;
}

#endif
