/* SPDX-License-Identifier: MIT */
/* The events of an EVENTS block. One pass over the events predicts every field from what came
 * before; what is not as predicted goes into the field's own column, and which fields those are
 * makes the event's shape. */
#include <errno.h>

#include "alike.h"
#include "events_encoder.h"

static inline void put(struct dft_events_encoder *p, unsigned column, uint64_t value)
{
    p->at[column] = dft_leb_put(p->at[column], value);
}

static struct dft_call_state *call_state(struct dft_events_encoder *p, uint32_t call)
{
    struct dft_call_state *state;

    if (p->call_of[call] == DFT_EVENTS_ENCODER_UNSEEN) {
        p->call_of[call] = p->ncalls;
        p->call_order[p->ncalls] = call;
        state = &p->calls[p->ncalls];
        dft_call_state_init(state, p->ncalls++, p->batch->calls[call].op);
        return state;
    }
    return &p->calls[p->call_of[call]];
}

/* The entry of a file that is not the most recent one, moved to the front; its code is or-ed into
 * *flags. NULL: too many names. */
static __attribute__((noinline)) struct dft_entry *put_file(struct dft_events_encoder *p, uint64_t id, uint32_t *flags)
{
    struct dft_entry *entry = NULL;
    uint32_t code = 1;

    while (code < DFT_RECENT && p->recent[code]->id != id)
        code++;
    if (code < DFT_RECENT) {
        entry = p->recent[code];
    } else {
        entry = dft_entries_get(&p->entries, id);
        if (!entry)
            return NULL;
        code = DFT_FILE_EXPLICIT;
        if (entry->position == DFT_NO_POSITION) {
            dft_entries_refer(&p->entries, entry);
            code = DFT_FILE_NEW;
        } else {
            put(p, DFT_EV_FILE, entry->position);
        }
    }
    for (uint32_t i = code < DFT_RECENT ? code : DFT_RECENT - 1; i > 0; i--)
        p->recent[i] = p->recent[i - 1];
    p->recent[0] = entry;
    *flags |= code << DFT_F_FILE_SHIFT;
    return entry;
}

/* The fields that few events have, or that rarely change. Returns their flags, or UINT32_MAX: too
 * many names. */
static __attribute__((noinline)) uint32_t put_rare(struct dft_events_encoder *p, const struct dft_event *event,
                                                   struct dft_call_state *call)
{
    struct dft_block_state *block = &p->block;
    struct dft_entry *entry;
    uint32_t flags = 0;

    if (event->region != block->region) {
        entry = event->region ? dft_entries_get(&p->entries, event->region) : NULL;
        if (event->region && !entry)
            return UINT32_MAX;
        flags |= DFT_F_REGION;
        put(p, DFT_EV_REGION, entry ? dft_entries_refer(&p->entries, entry) + 1 : 0);
        block->region = event->region;
    }
    if (event->file2) {
        entry = dft_entries_get(&p->entries, event->file2);
        if (!entry)
            return UINT32_MAX;
        flags |= DFT_F_FILE2;
        put(p, DFT_EV_FILE2, dft_entries_refer(&p->entries, entry));
    }
    if (event->stack) {
        flags |= DFT_F_STACK;
        dft_store64(p->at[DFT_EV_STACK], event->stack);
        p->at[DFT_EV_STACK] += 8;
    }
    if (event->id) {
        flags |= DFT_F_ID;
        put(p, DFT_EV_ID, event->id);
    }
#define DFT_EVENT_SAME(NAME, FLAG, type, field, last)                                                                  \
    if (event->field != last) {                                                                                        \
        flags |= DFT_F_##FLAG;                                                                                         \
        put(p, DFT_EV_##NAME, event->field);                                                                           \
        last = event->field;                                                                                           \
    }
#include "events.def"
#undef DFT_EVENT_SAME
    return flags;
}

static inline int has_rare(const struct dft_block_state *block, const struct dft_event *event,
                           const struct dft_call_state *call)
{
    uint64_t different = (event->region ^ block->region) | event->file2 | event->stack | event->id;

#define DFT_EVENT_SAME(NAME, FLAG, type, field, last) different |= (type)(event->field ^ last);
#include "events.def"
#undef DFT_EVENT_SAME
    return different != 0;
}

static inline uint32_t put_result(struct dft_events_encoder *p, const struct dft_event *event,
                                  struct dft_call_state *call)
{
    uint32_t flags = 0;

    if (event->size != call->size) {
        flags |= DFT_F_SIZE;
        put(p, DFT_EV_SIZE, dft_zigzag(event->size - call->size));
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
        put(p, DFT_EV_RESULT, dft_zigzag((uint64_t)event->result));
    }
    if (event->err) {
        flags |= (event->err == call->err ? DFT_ERRNO_LAST : DFT_ERRNO_EXPLICIT) << DFT_F_ERRNO_SHIFT;
        if (event->err != call->err)
            put(p, DFT_EV_ERRNO, event->err);
        call->err = event->err;
    }
    return flags;
}

static inline uint32_t put_place(struct dft_events_encoder *p, const struct dft_event *event,
                                 struct dft_call_state *call, struct dft_entry *file)
{
    uint32_t flags = 0;

    if (event->offset != -1) {
        if ((uint64_t)event->offset == file->end) {
            flags |= DFT_OFFSET_END << DFT_F_OFFSET_SHIFT;
        } else {
            flags |= DFT_OFFSET_EXPLICIT << DFT_F_OFFSET_SHIFT;
            put(p, DFT_EV_OFFSET, dft_zigzag((uint64_t)event->offset - file->end));
        }
        file->end = (uint64_t)event->offset + dft_event_bytes(event, call->op);
    }
    if (event->fd != dft_fd_predict(call, file->fd, p->block.fd)) {
        flags |= DFT_F_FD;
        put(p, DFT_EV_FD, dft_zigzag((uint64_t)(int64_t)event->fd));
    }
    dft_fd_learn(call, event, &file->fd, &p->block.fd);
    return flags;
}

static uint32_t find_shape(struct dft_events_encoder *p, struct dft_call_state *call, uint32_t flags)
{
    struct dft_idmap *map = &p->encoder->shapes;
    uint64_t shape = (uint64_t)call->position << 32 | flags;
    struct dft_idmap_slot *slot = dft_idmap_find(map, shape, p->shapes, sizeof *p->shapes);

    if (slot->generation != map->generation) {
        slot->generation = map->generation;
        slot->position = p->nshapes;
        p->shapes[p->nshapes++] = shape;
    }
    call->shape_flags = flags;
    call->shape = slot->position;
    return slot->position;
}

/* One event. Returns 0, -EINVAL or -E2BIG. */
static inline int put_event(struct dft_events_encoder *p, const struct dft_event *event, uint64_t gap)
{
    struct dft_call_state *call;
    struct dft_entry *file;
    uint32_t flags, rare;

    if (dft_unlikely(event->call >= p->batch->ncalls || event->phase > DFT_PHASE_LAST))
        return -EINVAL;
    call = call_state(p, event->call);
    flags = dft_shape_of_bits(event->bits) | (uint32_t)event->phase << DFT_F_PHASE_SHIFT;
    if ((int64_t)gap < 0)
        flags |= DFT_F_BACK;
    file = p->recent[0];
    if (!event->file) {
        /* Each access without a file is the first one to it. */
        flags |= DFT_FILE_NONE << DFT_F_FILE_SHIFT;
        p->no_file.end = 0;
        p->no_file.fd = -1;
        file = &p->no_file;
    } else if (event->file != file->id) {
        file = put_file(p, event->file, &flags);
        if (!file)
            return -E2BIG;
    }
    flags |= put_result(p, event, call);
    flags |= put_place(p, event, call, file);
    if (has_rare(&p->block, event, call)) {
        rare = put_rare(p, event, call);
        if (rare == UINT32_MAX)
            return -E2BIG;
        flags |= rare;
    }
    put(p, DFT_EV_SHAPE, flags == call->shape_flags ? call->shape : find_shape(p, call, flags));
    return 0;
}

static inline void put_times(struct dft_events_encoder *p, uint32_t i, uint64_t start_ns, uint64_t dur_ns, uint64_t gap)
{
    uint64_t end_ns = start_ns + dur_ns;

    p->gaps[i] = (int64_t)gap < 0 ? 0 - gap : gap;
    p->durations[i] = dur_ns;
    p->start_ns = start_ns < p->start_ns ? start_ns : p->start_ns;
    p->end_ns = end_ns > p->end_ns ? end_ns : p->end_ns;
}

/* What is predicted behind an event that was just put. */
struct predicted {
    uint8_t shape;   /* the same */
    int at_end;      /* it is where the last access to its file ended; else it is nowhere */
    uint64_t bytes;  /* and will move so many */
    uint64_t offset; /* of the next one */
};

/* Returns 0 when the next one needs a look whatever it is. */
static int predict(const struct dft_events_encoder *p, const struct dft_event *event, struct predicted *next)
{
    const struct dft_call_state *call = &p->calls[p->call_of[event->call]];

    next->shape = (uint8_t)call->shape;
    next->at_end = (call->shape_flags >> DFT_F_OFFSET_SHIFT & 3) == DFT_OFFSET_END;
    next->bytes = next->at_end ? dft_event_bytes(event, call->op) : 0;
    next->offset = next->at_end ? p->recent[0]->end : UINT64_MAX;
    /* Sums of small numbers to a positive one: they never get to be -1, which is no offset. */
    return dft_shape_is_steady(call->shape_flags, call->op) && call->shape <= 127 &&
           !(next->at_end && (event->offset < 0 || next->bytes >> 40));
}

/* The last of so many events that were as predicted has been put, but for their shapes. */
static void put_predicted(struct dft_events_encoder *p, const struct predicted *next, uint32_t count)
{
    if (next->at_end)
        p->recent[0]->end += count * next->bytes;
    memset(p->at[DFT_EV_SHAPE], next->shape, count);
    p->at[DFT_EV_SHAPE] += count;
}

/* The events behind the i-th and before `limit` that differ from it in nothing but what is
 * predicted: they have its shape, and no columns but that. Returns the last of them, or i. */
static uint32_t put_run(struct dft_events_encoder *p, uint32_t i, uint32_t limit)
{
    const struct dft_event *first = &p->batch->events[i], *event = first;
    uint64_t offset, end = p->previous_end;
    struct predicted next;
    uint32_t from = i;

    if (!predict(p, first, &next))
        return i;
    for (offset = next.offset; ++i < limit; offset += next.bytes) {
        uint64_t gap = (++event)->start_ns - end;

        if ((int64_t)gap < 0 || (uint64_t)event->offset != offset || !dft_is_alike(event, first))
            break;
        put_times(p, i, event->start_ns, event->dur_ns, gap);
        end = event->start_ns + event->dur_ns;
    }
    p->previous_end = end;
    put_predicted(p, &next, i - 1 - from);
    return i - 1;
}

/* An event in full. Returns 0, -EINVAL or -E2BIG. */
static int put_whole(struct dft_events_encoder *p, uint32_t i, const struct dft_event *event)
{
    uint64_t gap = i ? event->start_ns - p->previous_end : 0;

    put_times(p, i, event->start_ns, event->dur_ns, gap);
    p->previous_end = event->start_ns + event->dur_ns;
    return put_event(p, event, gap);
}

/* The times of a repeat from the i-th event on, which are in order. */
static void put_repeat_times(struct dft_events_encoder *p, uint32_t i, uint32_t limit)
{
    const struct dft_when *when = p->batch->when;
    uint64_t *gaps = p->gaps, *durations = p->durations, end = p->previous_end;

    p->start_ns = when[i].start_ns < p->start_ns ? when[i].start_ns : p->start_ns;
    for (; i < limit; i++) {
        gaps[i] = when[i].start_ns - end;
        durations[i] = when[i].dur_ns;
        end = when[i].start_ns + when[i].dur_ns;
    }
    p->end_ns = end > p->end_ns ? end : p->end_ns;
    p->previous_end = end;
}

/* A repeat: its first events in full, until the others are as predicted. */
static int put_repeat(struct dft_events_encoder *p, const struct dft_repeat *repeat)
{
    const struct dft_batch *batch = p->batch;
    const struct dft_event *first = &batch->events[repeat->first];
    uint32_t i = repeat->first, limit = i + repeat->count;
    uint64_t bytes = first->call < batch->ncalls ? dft_event_bytes(first, batch->calls[first->call].op) : 0;
    struct dft_event event;
    struct predicted next;

    for (; i < limit; i++) {
        int status;

        if (i > repeat->first && predict(p, &event, &next) &&
            (uint64_t)(event.offset == -1 ? -1 : event.offset + (int64_t)bytes) == next.offset)
            break;
        dft_repeat_event(batch, repeat, i, bytes, &event);
        status = put_whole(p, i, &event);
        if (status)
            return status;
    }
    if (i < limit) {
        put_repeat_times(p, i, limit);
        put_predicted(p, &next, limit - i);
    }
    return 0;
}

int dft_put_events(struct dft_events_encoder *p)
{
    const struct dft_batch *batch = p->batch;
    const struct dft_event *events = batch->events;
    const struct dft_repeat *repeat = batch->repeats, *last = repeat ? repeat + batch->nrepeats : NULL;

    p->start_ns = batch->count ? UINT64_MAX : 0;
    p->end_ns = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        uint32_t limit = repeat < last ? repeat->first : batch->count;
        int status = i == limit ? put_repeat(p, repeat) : put_whole(p, i, &events[i]);

        if (status)
            return status;
        if (i == limit)
            i += repeat++->count - 1;
        else if (i + 1 < limit && events[i + 1].call == events[i].call)
            i = put_run(p, i, limit);
    }
    if (batch->count) /* the first one's is from the earliest start, which is known by now */
        p->gaps[0] = events[0].start_ns - p->start_ns;
    return 0;
}
