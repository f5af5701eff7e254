/* SPDX-License-Identifier: MIT */
/* Records of one slot into an EVENTS block under construction: nearly all that a drain takes.
 *
 * Most records say the same as the last one of their call, but for times, file, offset and
 * descriptor. dft_slot_put compares them with it, word by word, and takes the flags from there.
 * Others become whole events. Both ways make the same columns. */
#ifndef DFT_SLOT_ENCODER_H
#define DFT_SLOT_ENCODER_H

#include <stddef.h>

#include "format/events_encoder.h"
#include "format/slot_event.h"

/* A call of the ring, and what its last record in this block was. */
struct dft_slot_call {
    struct dft_call_state state;
    uint64_t subject; /* of an annotation: the name that its records have in place of a file; else 0 */
    uint32_t kind;    /* call, bits and number of slots; 0: nothing is known of its last record */
    uint32_t size;
    int64_t result, mode;
    uint64_t bytes;       /* that it moved */
    uint32_t again_flags; /* of an event that says the same again, whatever else it has */
    uint32_t changed_flags;
    uint16_t err;
    struct dft_meaning meaning;
    uint8_t is_data, is_mark; /* the events of the call carry sizes; they are in no row */
};

/* What each event of a kind may have anew: it is accessed in order, or not. In a shape's flags these
 * bits are in the same place. */
#define DFT_SLOT_KIND_FREE (DFT_F_SEQUENTIAL | DFT_F_CONSECUTIVE)
_Static_assert((uint32_t)(DFT_BIT_SEQUENTIAL | DFT_BIT_CONSECUTIVE) << 16 == DFT_SLOT_KIND_FREE,
               "bits stand behind the call in a kind");

/* The words of a slot that a look at it needs. */
static inline uint32_t dft_slot_kind(const struct dft_slot *slot)
{
    return (uint32_t)(dft_load64((const char *)slot + offsetof(struct dft_slot, duration)) >> 32);
}
_Static_assert(offsetof(struct dft_slot, call) == offsetof(struct dft_slot, duration) + 4 &&
                   offsetof(struct dft_slot, bits) == offsetof(struct dft_slot, call) + 2 &&
                   offsetof(struct dft_slot, slots) == offsetof(struct dft_slot, bits) + 1,
               "a slot's kind is one word");

/* Makes the call ready for a block. `index`: its number among the batch's calls. */
void dft_slot_call_init(struct dft_slot_call *call, const struct dft_call *named, uint32_t index);

/* Bytes that the record moved. It is of a kind that does not have the unit in its result. */
static inline uint64_t dft_slot_bytes(const struct dft_slot_call *call, const struct dft_slot *slot)
{
    return call->state.bytes == DFT_BYTES_NOTHING || slot->result <= 0 ? 0 : (uint64_t)slot->result;
}

/* The record as an event. */
void dft_slot_to_event(const struct dft_slot_call *call, const struct dft_slot *slot, uint64_t start_ns,
                       uint64_t dur_ns, struct dft_event *event);

/* Puts any event of the call, of a record of one slot. Returns 0 or -E2BIG. */
int dft_slot_put_event(struct dft_events_encoder *p, struct dft_slot_call *call, const struct dft_slot *slot,
                       const struct dft_event *event);

/* Is the record of the same kind as the last one of its call? A record of several slots is not, nor
 * is the first one in a block. Size, result, errno, file, offset and descriptor may differ. */
static inline __attribute__((always_inline)) int dft_slot_is_again(const struct dft_events_encoder *p,
                                                                   const struct dft_slot_call *call,
                                                                   const struct dft_slot *slot, uint32_t kind)
{
    return dft_likely(!((kind ^ call->kind) & ~DFT_SLOT_KIND_FREE) && slot->region == p->block.region &&
                      slot->depth == p->block.depth) &&
           (!call->meaning.mode || slot->offset == call->mode);
}

/* Size, result and errno are not those of the last record of the call. */
void dft_slot_put_changes(struct dft_events_encoder *p, struct dft_slot_call *call, const struct dft_slot *slot,
                          uint64_t bytes);

/* Puts such a record, which moved so many `bytes`; `offset` as in its event. Returns its flags, or
 * UINT32_MAX: too many names. */
static inline __attribute__((always_inline)) uint32_t
dft_slot_put_again(struct dft_events_encoder *p, struct dft_slot_call *call, const struct dft_slot *slot, uint32_t kind,
                   uint64_t start_ns, uint64_t dur_ns, int64_t offset, uint64_t bytes)
{
    uint32_t flags = kind & DFT_SLOT_KIND_FREE, more;
    uint64_t id = call->subject ? 0 : slot->file;
    struct dft_entry *file = p->recent[0];

    flags |= dft_events_put_times(p, start_ns, dur_ns);
    if (slot->size != call->size || slot->result != call->result || slot->err != call->err) {
        dft_slot_put_changes(p, call, slot, bytes);
        flags |= call->changed_flags;
    } else {
        flags |= call->again_flags;
        if (dft_unlikely((flags >> DFT_F_RESULT_SHIFT & 3) == DFT_RESULT_EXPLICIT))
            dft_events_column(p, DFT_EV_RESULT, dft_zigzag((uint64_t)slot->result));
    }
    if (id != file->id || !id) {
        if (!id) {
            flags |= dft_events_put_no_file(p, &file);
        } else if (id == p->recent[1]->id) { /* two files in turn: a copy */
            struct dft_entry *other = p->recent[1];

            p->recent[1] = file;
            p->recent[0] = file = other;
            flags |= 1u << DFT_F_FILE_SHIFT;
        } else {
            more = dft_events_put_file(p, id);
            if (dft_unlikely(more == UINT32_MAX))
                return UINT32_MAX;
            flags |= more;
            file = p->recent[0];
        }
    }
    flags |= dft_events_put_offset(p, file, offset, bytes);
    flags |= dft_events_put_fd(p, &call->state, file, slot->fd, slot->result);
    dft_events_put_shape(p, &call->state, flags);
    return flags;
}

/* A repeat: records of one call in a row that say the same, of the same file and descriptor, each
 * where the one before has ended, and later. They have the shape of the first, and are in no other
 * column. */

/* May an event of the call, with these flags, begin a repeat? Not where its result is learnt. */
static inline int dft_slot_begins_repeat(const struct dft_slot_call *call, uint32_t flags)
{
    uint32_t file = flags >> DFT_F_FILE_SHIFT & 7, offset = flags >> DFT_F_OFFSET_SHIFT & 3;

    return !(flags & (DFT_F_BACK | DFT_F_FD | DFT_F_SIZE | DFT_F_FLAGS)) && !call->state.opens &&
           !(call->bytes >> 40) && /* the sum of them all is a number */
           ((file == DFT_FILE_RECENT && offset != DFT_OFFSET_EXPLICIT) ||
            (file == DFT_FILE_NONE && offset == DFT_OFFSET_NONE)) &&
           (flags >> DFT_F_RESULT_SHIFT & 3) != DFT_RESULT_EXPLICIT &&
           (flags >> DFT_F_ERRNO_SHIFT & 3) != DFT_ERRNO_EXPLICIT;
}

/* Does a record go on with a repeat, but for its times? `offset`: where the one before has ended; -1:
 * it has none. */
static inline __attribute__((always_inline)) int
dft_slot_goes_on(const struct dft_slot *slot, const struct dft_slot *first, uint32_t kind, int64_t offset)
{
    return kind == dft_slot_kind(slot) && slot->size == first->size && slot->file == first->file &&
           slot->result == first->result && slot->offset == offset && slot->region == first->region &&
           dft_load64(&slot->fd) == dft_load64(&first->fd);
}
_Static_assert(sizeof(struct dft_slot) == offsetof(struct dft_slot, fd) + 8,
               "descriptor, errno and depth are one word");

/* Puts what the repeat has in columns, its times apart, which are in gaps and durations behind those
 * of `count` events: so many records, of which the last ended then. */
void dft_slot_put_repeat(struct dft_events_encoder *p, struct dft_slot_call *call, const struct dft_slot *first,
                         uint32_t count, uint64_t end_ns);

#endif
