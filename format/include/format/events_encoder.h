/* SPDX-License-Identifier: MIT */
/* An EVENTS block under construction: events become columns one by one, as they come.
 *
 * Every field of an event is predicted from what came before. What is not as predicted goes into
 * the field's own column. Which fields those are makes the event's shape. dft_events_put is inline:
 * the drain puts events that never are in memory, and the compiler leaves out what such events
 * cannot have. */
#ifndef DFT_EVENTS_ENCODER_H
#define DFT_EVENTS_ENCODER_H

#include <errno.h>

#include "format/encode.h"
#include "format/leb128.h"
#include "format/shape.h"

#define DFT_EVENTS_COLUMNS (DFT_EV_NUMBER + 1)

#define DFT_NO_NAME UINT32_MAX

/* A name that the block refers to, or that is at hand. A file also has what the next event on it is predicted from. */
struct dft_entry {
    uint64_t id;
    uint64_t end;      /* of the last access to this file */
    int32_t fd;        /* last on this file */
    uint32_t position; /* in the column NAMES; DFT_NO_POSITION: not referred to yet */
    uint32_t name;     /* among the definitions at hand; DFT_NO_NAME: only the id is known */
};

struct dft_entries;
struct dft_encoder;

struct dft_events_encoder {
    struct dft_encoder *encoder;
    struct dft_entries *entries;
    uint8_t *start[DFT_EVENTS_COLUMNS], *at[DFT_EVENTS_COLUMNS];
    uint32_t *call_order; /* position in CALLS -> index of the caller */
    uint32_t ncalls;      /* positions assigned */
    uint32_t count;       /* events */
    uint64_t *shapes;     /* position in CALLS << 32 | flags */
    uint32_t nshapes;
    uint64_t *gaps, *durations;
    uint64_t first_start_ns; /* of the first event */
    uint64_t start_ns;       /* the earliest */
    uint64_t end_ns;         /* the latest, but for the last events' */
    uint64_t previous_end;   /* of the event before */
    /* Prediction state. */
    struct dft_entry *recent[DFT_RECENT];
    struct dft_entry no_file;
    struct dft_block_state block;
};

/* The most that a block will hold: events, different calls, ids of files, regions, argument keys
 * and names of calls. */
struct dft_events_bounds {
    uint32_t events, calls;
    uint64_t ids;
};

/* Begins a block. Returns 0 or -E2BIG. The caller keeps a struct dft_call_state of each call, which
 * dft_events_call makes ready for this block. */
int dft_events_begin(struct dft_events_encoder *p, struct dft_encoder *encoder, const struct dft_events_bounds *bounds);

/* Makes a call's state ready for a block. `index`: of the call among the batch's. */
static inline void dft_events_call(struct dft_call_state *call, uint32_t index, uint8_t op)
{
    dft_call_state_init(call, DFT_NO_POSITION, op);
    call->index = index;
}

/* Ends the block. It uses everything of the batch but the events: names, arguments, numbers, calls
 * (by the indices of the states), key, stream, range. Returns as dft_encode_events. */
long dft_events_end(struct dft_events_encoder *p, const struct dft_batch *batch, const void **block);

/* The rare parts of dft_events_put. They return the flags of the shape that they add, or UINT32_MAX
 * where there are too many names. */
uint32_t dft_events_put_file(struct dft_events_encoder *p, uint64_t id);
uint32_t dft_events_put_rare(struct dft_events_encoder *p, const struct dft_event *event, struct dft_call_state *call);
/* The index of a shape, which is made when it is new. */
uint32_t dft_events_find_shape(struct dft_events_encoder *p, struct dft_call_state *call, uint32_t flags);

#define DFT_EVENTS_INLINE static inline __attribute__((always_inline))

DFT_EVENTS_INLINE void dft_events_column(struct dft_events_encoder *p, unsigned column, uint64_t value)
{
    p->at[column] = dft_leb_put(p->at[column], value);
}

DFT_EVENTS_INLINE int dft_events_has_rare(const struct dft_block_state *block, const struct dft_event *event,
                                          const struct dft_call_state *call)
{
    uint64_t different = (event->region ^ block->region) | event->file2 | event->stack | event->id;

#define DFT_EVENT_SAME(NAME, FLAG, type, field, last) different |= (type)(event->field ^ last);
#include "format/events.def"
#undef DFT_EVENT_SAME
    return different != 0;
}

DFT_EVENTS_INLINE uint32_t dft_events_put_result(struct dft_events_encoder *p, const struct dft_event *event,
                                                 struct dft_call_state *call)
{
    uint32_t flags = 0;

    if (event->size != call->size) {
        flags |= DFT_F_SIZE;
        dft_events_column(p, DFT_EV_SIZE, dft_zigzag(event->size - call->size));
        call->size = event->size;
    }
    if (event->unit && event->result == dft_result_of_size(event->size, event->unit)) {
        flags |= DFT_RESULT_SIZE << DFT_F_RESULT_SHIFT;
    } else if (event->result == 0) {
        flags |= DFT_RESULT_ZERO << DFT_F_RESULT_SHIFT;
    } else if (event->result == -1) {
        flags |= DFT_RESULT_FAILED << DFT_F_RESULT_SHIFT;
    } else if (event->result == DFT_RESULT_UNKNOWN) {
        flags |= DFT_RESULT_EXPLICIT << DFT_F_RESULT_SHIFT | DFT_F_UNKNOWN;
    } else {
        flags |= DFT_RESULT_EXPLICIT << DFT_F_RESULT_SHIFT;
        dft_events_column(p, DFT_EV_RESULT, dft_zigzag((uint64_t)event->result));
    }
    if (event->err) {
        flags |= (event->err == call->err ? DFT_ERRNO_LAST : DFT_ERRNO_EXPLICIT) << DFT_F_ERRNO_SHIFT;
        if (event->err != call->err)
            dft_events_column(p, DFT_EV_ERRNO, event->err);
        call->err = event->err;
    }
    return flags;
}

DFT_EVENTS_INLINE uint32_t dft_events_put_offset(struct dft_events_encoder *p, struct dft_entry *file, int64_t offset,
                                                 uint64_t bytes)
{
    uint64_t end = file->end;

    if (offset == -1)
        return DFT_OFFSET_NONE << DFT_F_OFFSET_SHIFT;
    file->end = (uint64_t)offset + bytes;
    if (dft_likely((uint64_t)offset == end))
        return DFT_OFFSET_END << DFT_F_OFFSET_SHIFT;
    dft_events_column(p, DFT_EV_OFFSET, dft_zigzag((uint64_t)offset - end));
    return DFT_OFFSET_EXPLICIT << DFT_F_OFFSET_SHIFT;
}

/* A descriptor that is not simply the file's last one, or none again. */
uint32_t dft_events_put_other_fd(struct dft_events_encoder *p, struct dft_call_state *call, struct dft_entry *file,
                                 int32_t fd, int64_t result);

DFT_EVENTS_INLINE uint32_t dft_events_put_fd(struct dft_events_encoder *p, struct dft_call_state *call,
                                             struct dft_entry *file, int32_t fd, int64_t result)
{
    if (fd != -1 && fd == file->fd && !(call->opens | call->without_fd)) {
        p->block.fd = fd;
        return 0;
    }
    if (fd == -1 && call->without_fd && !call->opens)
        return 0;
    return dft_events_put_other_fd(p, call, file, fd, result);
}

/* Sets *file to what an event without one is on: each access without a file is the first one to
 * it. */
DFT_EVENTS_INLINE uint32_t dft_events_put_no_file(struct dft_events_encoder *p, struct dft_entry **file)
{
    p->no_file.end = 0;
    p->no_file.fd = -1;
    *file = &p->no_file;
    return DFT_FILE_NONE << DFT_F_FILE_SHIFT;
}

/* An event that began before the last one had ended: the rest of its times. Returns its flag. */
uint32_t dft_events_put_back(struct dft_events_encoder *p, uint64_t start_ns, uint64_t gap);

DFT_EVENTS_INLINE uint32_t dft_events_put_times(struct dft_events_encoder *p, uint64_t start_ns, uint64_t dur_ns)
{
    uint64_t gap = start_ns - p->previous_end;
    uint32_t flags = 0;

    p->durations[p->count] = dur_ns;
    p->gaps[p->count] = gap;
    if (dft_unlikely((int64_t)gap < 0))
        flags = dft_events_put_back(p, start_ns, gap);
    p->previous_end = start_ns + dur_ns;
    return flags;
}

/* The block's first event begins then. */
static inline void dft_events_start(struct dft_events_encoder *p, uint64_t start_ns)
{
    p->first_start_ns = p->start_ns = p->previous_end = p->end_ns = start_ns;
}

DFT_EVENTS_INLINE void dft_events_put_shape(struct dft_events_encoder *p, struct dft_call_state *call, uint32_t flags)
{
    dft_events_column(p, DFT_EV_SHAPE,
                      dft_likely(flags == call->shape_flags) ? call->shape : dft_events_find_shape(p, call, flags));
    p->count++;
}

/* One event, which moved so many `bytes`. Its own field `call` is not looked at: `call` is the
 * state. Phases are known ones, room is for as many events as were announced. Returns 0 or -E2BIG. */
DFT_EVENTS_INLINE int dft_events_put(struct dft_events_encoder *p, struct dft_call_state *call,
                                     const struct dft_event *event, uint64_t bytes)
{
    struct dft_entry *file = p->recent[0];
    uint32_t flags = dft_shape_of_bits(event->bits) | (uint32_t)event->phase << DFT_F_PHASE_SHIFT, more;

    if (dft_unlikely(!p->count))
        dft_events_start(p, event->start_ns);
    flags |= dft_events_put_times(p, event->start_ns, event->dur_ns);
    if (!event->file) {
        flags |= dft_events_put_no_file(p, &file);
    } else if (event->file != file->id) {
        more = dft_events_put_file(p, event->file);
        if (dft_unlikely(more == UINT32_MAX))
            return -E2BIG;
        flags |= more;
        file = p->recent[0];
    }
    flags |= dft_events_put_result(p, event, call);
    flags |= dft_events_put_offset(p, file, event->offset, bytes);
    flags |= dft_events_put_fd(p, call, file, event->fd, event->result);
    if (dft_unlikely(dft_events_has_rare(&p->block, event, call))) {
        struct dft_event copy = *event; /* so that the event itself need not be in memory */

        more = dft_events_put_rare(p, &copy, call);
        if (dft_unlikely(more == UINT32_MAX))
            return -E2BIG;
        flags |= more;
    }
    dft_events_put_shape(p, call, flags);
    return 0;
}

#endif
