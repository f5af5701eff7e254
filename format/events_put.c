/* EVENTS blocks from batches. One pass over the events predicts every field from what came before; what is not as
 * predicted goes into the field's own column, and which fields those are makes the event's shape. */
#include <errno.h>

#include "alike.h"
#include "args.h"
#include "encoder.h"
#include "shape.h"
#include "times.h"

#define COLUMNS (DFT_EV_NUMBER + 1)
#define UNSEEN  UINT32_MAX

struct putting {
    struct dft_encoder *encoder;
    const struct dft_batch *batch;
    struct dft_entries entries;
    uint8_t *start[COLUMNS], *at[COLUMNS];
    struct dft_call_state *calls;
    uint32_t *call_of;    /* position in the batch -> in calls; UNSEEN */
    uint32_t *call_order; /* and back */
    uint32_t ncalls;
    uint64_t *shapes; /* position in CALLS << 32 | flags */
    uint32_t nshapes;
    uint64_t *gaps, *durations;
    uint64_t start_ns, end_ns;
    /* Prediction state. */
    struct dft_entry *recent[DFT_RECENT];
    struct dft_entry no_file;
    struct dft_block_state block;
};

static const uint8_t column_bytes[COLUMNS] = {
#define DFT_EVENT_COLUMN(name, encodings, bytes) [DFT_EV_##name] = bytes,
#include "events.def"
#undef DFT_EVENT_COLUMN
};

static inline void put(struct putting *p, unsigned column, uint64_t value)
{
    p->at[column] = dft_leb_put(p->at[column], value);
}

/* Memory for a batch. Returns 0 or -E2BIG. */
static int putting_begin(struct putting *p, struct dft_encoder *encoder, const struct dft_batch *batch)
{
    uint64_t count = batch->count, bound = 3 * count + batch->nnames + batch->nargs + batch->ncalls;
    uint64_t ncalls = batch->ncalls < count ? batch->ncalls : count;

    p->encoder = encoder;
    p->batch = batch;
    p->ncalls = p->nshapes = 0;
    p->gaps = dft_arena_take(encoder, count * 8);
    p->durations = dft_arena_take(encoder, count * 8);
    p->shapes = dft_arena_take(encoder, count * 8);
    p->calls = dft_arena_take(encoder, ncalls * sizeof *p->calls);
    p->call_of = dft_arena_take(encoder, (uint64_t)batch->ncalls * 4);
    p->call_order = dft_arena_take(encoder, ncalls * 4);
    if (!p->gaps || !p->durations || !p->shapes || !p->calls || !p->call_of || !p->call_order)
        return -E2BIG;
    for (unsigned i = 0; i < COLUMNS; i++) {
        p->start[i] = p->at[i] = dft_arena_take(encoder, count * column_bytes[i]);
        if (!p->start[i])
            return -E2BIG;
    }
    memset(p->call_of, 0xff, (size_t)batch->ncalls * 4);
    dft_idmap_reset(&encoder->shapes, count);
    for (unsigned i = 0; i < DFT_RECENT; i++)
        p->recent[i] = &p->no_file;
    p->no_file = (struct dft_entry){.fd = -1};
    p->block = (struct dft_block_state){.fd = -1};
    return dft_entries_begin(encoder, &p->entries, batch->names, batch->nnames, bound);
}

static struct dft_call_state *call_state(struct putting *p, uint32_t call)
{
    struct dft_call_state *state;

    if (p->call_of[call] == UNSEEN) {
        p->call_of[call] = p->ncalls;
        p->call_order[p->ncalls] = call;
        state = &p->calls[p->ncalls];
        dft_call_state_init(state, p->ncalls++, p->batch->calls[call].op);
        return state;
    }
    return &p->calls[p->call_of[call]];
}

/* The entry of a file that is not the most recent one, moved to the front; its code is or-ed into *flags. NULL: too many names. */
static __attribute__((noinline)) struct dft_entry *put_file(struct putting *p, uint64_t id, uint32_t *flags)
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

/* The fields that few events have, or that rarely change. Returns their flags, or UINT32_MAX: too many names. */
static __attribute__((noinline)) uint32_t put_rare(struct putting *p, const struct dft_event *event,
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

static inline uint32_t put_result(struct putting *p, const struct dft_event *event, struct dft_call_state *call)
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

static inline uint32_t put_place(struct putting *p, const struct dft_event *event, struct dft_call_state *call,
                                 struct dft_entry *file)
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

static uint32_t find_shape(struct putting *p, struct dft_call_state *call, uint32_t flags)
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
static inline int put_event(struct putting *p, const struct dft_event *event, uint64_t gap)
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

static inline void put_times(struct putting *p, uint32_t i, uint64_t start_ns, uint64_t dur_ns, uint64_t gap)
{
    uint64_t end_ns = start_ns + dur_ns;

    p->gaps[i] = (int64_t)gap < 0 ? 0 - gap : gap;
    p->durations[i] = dur_ns;
    p->start_ns = start_ns < p->start_ns ? start_ns : p->start_ns;
    p->end_ns = end_ns > p->end_ns ? end_ns : p->end_ns;
}

/* The events behind the i-th that differ from it in nothing but what is predicted: they have its shape, and no columns but that.
 * Returns the last of them, or i. */
static uint32_t put_run(struct putting *p, uint32_t i)
{
    const struct dft_event *first = &p->batch->events[i], *event = first;
    const struct dft_call_state *call = &p->calls[p->call_of[first->call]];
    int at_end = (call->shape_flags >> DFT_F_OFFSET_SHIFT & 3) == DFT_OFFSET_END;
    uint64_t bytes = at_end ? dft_event_bytes(first, call->op) : 0, previous_end = first->start_ns + first->dur_ns;
    uint64_t offset = at_end ? p->recent[0]->end : UINT64_MAX; /* the one predicted */
    uint8_t *shape = p->at[DFT_EV_SHAPE];

    /* Sums of small numbers to a positive one: they never get to be -1, which is no offset. */
    if (!dft_shape_is_steady(call->shape_flags, call->op) || call->shape > 127 ||
        (at_end && (first->offset < 0 || bytes >> 40)))
        return i;
    while (++i < p->batch->count) {
        uint64_t gap = (++event)->start_ns - previous_end;

        if ((int64_t)gap < 0 || (uint64_t)event->offset != offset || !dft_is_alike(event, first))
            break;
        put_times(p, i, event->start_ns, event->dur_ns, gap);
        previous_end = event->start_ns + event->dur_ns;
        offset += bytes;
        *shape++ = (uint8_t)call->shape;
    }
    if (at_end)
        p->recent[0]->end = offset;
    p->at[DFT_EV_SHAPE] = shape;
    return i - 1;
}

static int put_all_events(struct putting *p)
{
    const struct dft_batch *batch = p->batch;
    const struct dft_event *events = batch->events;

    p->start_ns = batch->count ? UINT64_MAX : 0;
    p->end_ns = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        uint64_t gap = i ? events[i].start_ns - (events[i - 1].start_ns + events[i - 1].dur_ns) : 0;
        int status = put_event(p, &events[i], gap);

        if (status)
            return status;
        put_times(p, i, events[i].start_ns, events[i].dur_ns, gap);
        if (i + 1 < batch->count && events[i + 1].call == events[i].call)
            i = put_run(p, i);
    }
    if (batch->count) /* the first one's is from the earliest start, which is known by now */
        p->gaps[0] = events[0].start_ns - p->start_ns;
    return 0;
}

static void put_shapes(struct putting *p)
{
    struct dft_raw *raw = &p->encoder->raw;

    dft_raw_open(raw, DFT_EV_SHAPES, DFT_ENC_BYTES);
    dft_raw_leb(raw, p->nshapes);
    for (uint32_t i = 0; i < p->nshapes; i++) {
        dft_raw_leb(raw, p->shapes[i] >> 32);
        dft_raw_leb(raw, (uint32_t)p->shapes[i]);
    }
    dft_raw_close(raw);
}

long dft_encode_events(struct dft_encoder *encoder, const struct dft_batch *batch, const void **block)
{
    struct dft_block_header header = {.type = DFT_BLOCK_EVENTS,
                                      .count = batch->count,
                                      .stream = batch->stream,
                                      .key = batch->key,
                                      .first = batch->first,
                                      .last = batch->last,
                                      .tid = batch->tid,
                                      .part = batch->part};
    const uint8_t *tail = NULL;
    size_t tail_bytes = 0;
    uint32_t *arg_keys = NULL;
    struct putting p;
    int status;

    if (batch->count > DFT_BLOCK_EVENTS_MAX || batch->ncalls > DFT_COUNT_MAX)
        return -EINVAL;
    dft_block_begin(encoder);
    status = putting_begin(&p, encoder, batch);
    if (!status)
        status = put_all_events(&p);
    if (!status)
        status = dft_args_begin(encoder, &p.entries, batch, &arg_keys);
    if (!status)
        status = dft_calls_put(&encoder->raw, &p.entries, batch->calls, p.call_order, p.ncalls);
    if (status)
        return status;
    dft_names_put(&encoder->raw, &p.entries);
    if (batch->count) {
        put_shapes(&p);
        for (unsigned i = 0; i < COLUMNS; i++)
            if (p.at[i] > p.start[i])
                dft_raw_column(&encoder->raw, i, i == DFT_EV_STACK ? DFT_ENC_BYTES : DFT_ENC_LEB128, p.start[i],
                               (size_t)(p.at[i] - p.start[i]));
        dft_args_put(&encoder->raw, batch, arg_keys);
        status = batch->numbers && batch->first <= batch->last
                     ? dft_raw_ascending(&encoder->raw, DFT_EV_NUMBER, batch->numbers, batch->count,
                                         batch->last - batch->first)
                     : 0;
    }
    if (batch->count && !status) {
        status = dft_times_put(encoder, p.gaps, p.durations, batch->count, &tail, &tail_bytes);
    }
    header.start = p.start_ns;
    header.end = p.end_ns;
    return status ? status : dft_block_end(encoder, &header, tail, tail_bytes, block);
}
