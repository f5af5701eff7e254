/* SPDX-License-Identifier: MIT */
/* Batches from EVENTS blocks: the mirror of events_put.c, for any bytes. Faults are sticky
 * (columns.h): the loop goes on with zeros, and what it made is thrown away. */
#include <errno.h>

#include "args.h"
#include "decoder.h"
#include "format/shape.h"
#include "shapes.h"
#include "times.h"

#define DFT_TIME_ENCODINGS                                                                                             \
    (DFT_MASK(DFT_ENC_LEB128) | DFT_MASK(DFT_ENC_SPLIT) | DFT_MASK(DFT_ENC_SCALED) | DFT_MASK(DFT_ENC_CODED))

static const struct dft_column_spec specs[] = {
    [DFT_COL_NAMES] = DFT_COLUMN_SPEC(NAMES, DFT_MASK(DFT_ENC_BYTES)),
    [DFT_COL_CALLS] = DFT_COLUMN_SPEC(CALLS, DFT_MASK(DFT_ENC_BYTES)),
    [DFT_COL_CLASSES] = DFT_COLUMN_SPEC(CLASSES, DFT_MASK(DFT_ENC_LEB128)),
#define DFT_EVENT_COLUMN(name, encodings, bytes) [DFT_EV_##name] = DFT_COLUMN_SPEC(name, encodings),
#include "format/events.def"
#undef DFT_EVENT_COLUMN
};
#define NSPECS (sizeof specs / sizeof *specs)

struct shape {
    uint32_t call, flags;
};

struct file_state {
    uint64_t end;
    int32_t fd;
};

struct getting {
    struct dft_columns *columns;
    const struct dft_name *names;
    uint32_t nnames;
    uint32_t next; /* the position above all that were used */
    const struct shape *shapes;
    uint32_t nshapes;
    struct dft_call_state *calls;
    struct file_state *files;
    struct file_state no_file;
    uint32_t recent[DFT_RECENT], nrecent;
    struct dft_block_state block;
};

static const char *shape_fault(const struct shape *shape, uint32_t ncalls)
{
    uint32_t flags = shape->flags;

    if (shape->call >= ncalls)
        return "column SHAPES refers to no call";
    if ((flags >> DFT_F_FILE_SHIFT & 7) > DFT_FILE_NONE || (flags >> DFT_F_OFFSET_SHIFT & 3) > DFT_OFFSET_EXPLICIT ||
        (flags & DFT_F_UNKNOWN && (flags >> DFT_F_RESULT_SHIFT & 3) != DFT_RESULT_EXPLICIT) ||
        (flags >> DFT_F_ERRNO_SHIFT & 3) > DFT_ERRNO_EXPLICIT || (flags >> DFT_F_PHASE_SHIFT & 15) > DFT_PHASE_LAST)
        return "column SHAPES has unknown flags";
    return NULL;
}

/* Returns 0, -ENOMEM or -EBADMSG. */
static int get_shapes(struct dft_decoder *decoder, uint32_t *count)
{
    struct dft_columns *columns = &decoder->columns;
    uint64_t n = dft_column_leb_max(columns, DFT_EV_SHAPES, DFT_COUNT_MAX);
    struct shape *shapes;

    if (dft_buffer_reserve(&decoder->shapes, (n + 1) * sizeof *shapes))
        return -ENOMEM;
    shapes = decoder->shapes.bytes;
    for (uint64_t i = 0; i < n && !columns->reason; i++) {
        const char *reason;

        shapes[i].call = (uint32_t)dft_column_leb_max(columns, DFT_EV_SHAPES, UINT32_MAX);
        shapes[i].flags = (uint32_t)dft_column_leb_max(columns, DFT_EV_SHAPES, UINT32_MAX);
        reason = shape_fault(&shapes[i], decoder->ncalls);
        if (reason)
            dft_columns_fault(columns, reason);
    }
    *count = (uint32_t)n;
    return columns->reason ? -EBADMSG : 0;
}

/* Returns 0 or -ENOMEM. */
static int getting_begin(struct getting *g, struct dft_decoder *decoder, uint32_t nshapes)
{
    const struct dft_call *calls = decoder->calls.bytes;

    if (dft_buffer_reserve(&decoder->call_states, (decoder->ncalls + 1) * sizeof *g->calls) ||
        dft_buffer_reserve(&decoder->file_states, (decoder->nnames + 1) * sizeof *g->files))
        return -ENOMEM;
    *g = (struct getting){.columns = &decoder->columns,
                          .names = decoder->names.bytes,
                          .nnames = decoder->nnames,
                          .shapes = decoder->shapes.bytes,
                          .nshapes = nshapes,
                          .calls = decoder->call_states.bytes,
                          .files = decoder->file_states.bytes,
                          .block = {.fd = -1}};
    for (uint32_t i = 0; i < decoder->ncalls; i++)
        dft_call_state_init(&g->calls[i], i, calls[i].op);
    for (uint32_t i = 0; i < decoder->nnames; i++)
        g->files[i] = (struct file_state){.end = 0, .fd = -1};
    return 0;
}

/* Checks a position in NAMES and takes notice of it. An impossible one becomes a fault and 0. Not
 * called without names. */
static uint32_t use_position(struct getting *g, unsigned column, uint64_t position)
{
    if (position >= g->nnames) {
        dft_column_fault(g->columns, column);
        return 0;
    }
    if (position >= g->next)
        g->next = (uint32_t)position + 1;
    return (uint32_t)position;
}

/* The file of an event that is not the most recent one, moved to the front. */
static __attribute__((noinline)) uint32_t get_file(struct getting *g, uint32_t code)
{
    uint32_t position, from = code < DFT_RECENT ? code : DFT_RECENT - 1;

    if (code < DFT_RECENT) {
        if (code >= g->nrecent) {
            dft_column_fault(g->columns, DFT_EV_SHAPES);
            return 0;
        }
        position = g->recent[code];
    } else {
        position = use_position(g, code == DFT_FILE_NEW ? DFT_EV_SHAPES : DFT_EV_FILE,
                                code == DFT_FILE_NEW ? g->next : dft_column_leb(g->columns, DFT_EV_FILE));
        g->nrecent += g->nrecent < DFT_RECENT;
    }
    for (uint32_t i = from; i > 0; i--)
        g->recent[i] = g->recent[i - 1];
    g->recent[0] = position;
    return position;
}

static inline void get_result(struct getting *g, struct dft_event *event, struct dft_call_state *call, uint32_t flags)
{
    struct dft_columns *columns = g->columns;

    if (flags & DFT_F_SIZE)
        call->size += dft_unzigzag(dft_column_leb(columns, DFT_EV_SIZE));
    event->size = call->size;
    switch (flags >> DFT_F_RESULT_SHIFT & 3) {
    case DFT_RESULT_SIZE:
        if (dft_likely(event->unit))
            event->result = dft_result_of_size(event->size, event->unit);
        else
            dft_column_fault(columns, DFT_EV_UNIT);
        break;
    case DFT_RESULT_ZERO:
        event->result = 0;
        break;
    case DFT_RESULT_FAILED:
        event->result = -1;
        break;
    default:
        event->result =
            flags & DFT_F_UNKNOWN ? DFT_RESULT_UNKNOWN : (int64_t)dft_unzigzag(dft_column_leb(columns, DFT_EV_RESULT));
    }
    event->err = 0;
    if (flags & 3u << DFT_F_ERRNO_SHIFT) {
        if ((flags >> DFT_F_ERRNO_SHIFT & 3) == DFT_ERRNO_EXPLICIT)
            call->err = (uint16_t)dft_column_leb_max(columns, DFT_EV_ERRNO, UINT16_MAX);
        event->err = call->err;
    }
}

static inline void get_place(struct getting *g, struct dft_event *event, struct dft_call_state *call,
                             struct file_state *file, uint32_t flags)
{
    event->offset = -1;
    if (flags & 3u << DFT_F_OFFSET_SHIFT) {
        uint64_t offset = file->end;

        if ((flags >> DFT_F_OFFSET_SHIFT & 3) == DFT_OFFSET_EXPLICIT)
            offset += dft_unzigzag(dft_column_leb(g->columns, DFT_EV_OFFSET));
        event->offset = (int64_t)offset;
        file->end = offset + dft_event_bytes(event, call->op);
    }
    event->fd = dft_fd_predict(call, file->fd, g->block.fd);
    if (flags & DFT_F_FD)
        event->fd = (int32_t)dft_unzigzag(dft_column_leb_max(g->columns, DFT_EV_FD, UINT32_MAX));
    dft_fd_learn(call, event->fd, event->result, &file->fd, &g->block.fd);
}

static inline void get_same(struct getting *g, struct dft_event *event, struct dft_call_state *call, uint32_t flags)
{
    struct dft_block_state *block = &g->block;

#define DFT_EVENT_SAME(NAME, FLAG, type, field, last)                                                                  \
    if (dft_unlikely(flags & DFT_F_##FLAG))                                                                            \
        last = (type)dft_column_leb_max(g->columns, DFT_EV_##NAME, (type)~0u);                                         \
    event->field = last;
#include "format/events.def"
#undef DFT_EVENT_SAME
}

#define RARE (DFT_F_REGION | DFT_F_FILE2 | DFT_F_STACK | DFT_F_ID)

static __attribute__((noinline)) void get_rare(struct getting *g, struct dft_event *event, uint32_t flags)
{
    struct dft_columns *columns = g->columns;
    uint64_t position;

    if (flags & DFT_F_REGION) {
        position = dft_column_leb(columns, DFT_EV_REGION);
        g->block.region = 0;
        if (position && g->nnames)
            g->block.region = g->names[use_position(g, DFT_EV_REGION, position - 1)].id;
        else if (position)
            dft_column_fault(columns, DFT_EV_REGION);
        event->region = g->block.region;
    }
    if (flags & DFT_F_FILE2) {
        position = dft_column_leb(columns, DFT_EV_FILE2);
        if (g->nnames)
            event->file2 = g->names[use_position(g, DFT_EV_FILE2, position)].id;
        else
            dft_column_fault(columns, DFT_EV_FILE2);
    }
    if (flags & DFT_F_STACK)
        event->stack = dft_column_word(columns, DFT_EV_STACK);
    if (flags & DFT_F_ID)
        event->id = dft_column_leb(columns, DFT_EV_ID);
}

/* Everything of an event but its times. Returns its flags. */
static inline uint32_t get_event(struct getting *g, struct dft_event *event)
{
    struct dft_columns *columns = g->columns;
    uint32_t index = (uint32_t)dft_column_leb_max(columns, DFT_EV_SHAPE, UINT32_MAX), flags, code;
    struct file_state *file = &g->no_file;
    struct dft_call_state *call;

    if (dft_unlikely(index >= g->nshapes)) {
        dft_column_fault(columns, DFT_EV_SHAPE);
        return 0;
    }
    call = &g->calls[g->shapes[index].call];
    flags = g->shapes[index].flags;
    event->call = g->shapes[index].call;
    code = flags >> DFT_F_FILE_SHIFT & 7;
    if (code == DFT_FILE_NONE || dft_unlikely(!g->nnames)) {
        if (code != DFT_FILE_NONE)
            dft_column_fault(columns, DFT_EV_SHAPES);
        event->file = 0;
        g->no_file = (struct file_state){.end = 0, .fd = -1};
    } else {
        uint32_t position = code == DFT_FILE_RECENT && g->nrecent ? g->recent[0] : get_file(g, code);

        event->file = g->names[position].id;
        file = &g->files[position];
    }
    event->file2 = event->stack = event->id = 0;
    event->phase = flags >> DFT_F_PHASE_SHIFT & 15;
    event->bits = dft_bits_of_shape(flags);
    get_same(g, event, call, flags);
    get_result(g, event, call, flags);
    get_place(g, event, call, file, flags);
    event->region = g->block.region;
    if (dft_unlikely(flags & RARE))
        get_rare(g, event, flags);
    return flags;
}

/* Events with their times; stops at a fault. */
static void get_all_events(struct getting *g, struct dft_event *events, const struct dft_block_header *header,
                           const uint64_t *times)
{
    const uint64_t *gaps = times, *durations = times + header->count;
    uint64_t end = header->start;

    for (uint32_t i = 0; i < header->count; i++) {
        uint32_t flags = get_event(g, &events[i]);
        uint64_t gap = flags & DFT_F_BACK ? 0 - gaps[i] : gaps[i];

        if (dft_unlikely(g->columns->reason != NULL))
            return;
        events[i].start_ns = end + gap;
        events[i].dur_ns = durations[i];
        end += gap + durations[i];
    }
}

/* The numbers of events that do not simply follow each other. Returns 0, -ENOMEM or -EBADMSG. */
static int get_numbers(struct dft_decoder *decoder, const struct dft_block_header *header, struct dft_batch *batch)
{
    uint64_t number = 0, most = header->first <= header->last ? header->last - header->first : 0;
    uint32_t *numbers;

    if (!dft_column_left(&decoder->columns, DFT_EV_NUMBER))
        return 0;
    if (dft_buffer_reserve(&decoder->numbers, header->count * sizeof *numbers))
        return -ENOMEM;
    numbers = decoder->numbers.bytes;
    if (most > UINT32_MAX)
        most = UINT32_MAX;
    for (uint32_t i = 0; i < header->count && !decoder->columns.reason; i++) {
        number += dft_column_leb_max(&decoder->columns, DFT_EV_NUMBER, UINT32_MAX);
        if (number > most)
            dft_column_fault(&decoder->columns, DFT_EV_NUMBER);
        numbers[i] = (uint32_t)number++;
    }
    batch->numbers = numbers;
    return decoder->columns.reason ? -EBADMSG : 0;
}

/* Names and calls: a batch without events. */
static int get_names(struct dft_decoder *decoder, const struct dft_block_header *header, struct dft_batch *batch)
{
    int status = dft_names_get(decoder);

    if (!status)
        status = dft_calls_get(decoder);
    if (status)
        return status;
    *batch = (struct dft_batch){.key = header->key,
                                .stream = header->stream,
                                .tid = header->tid,
                                .first = header->first,
                                .last = header->last,
                                .calls = decoder->calls.bytes,
                                .ncalls = decoder->ncalls,
                                .names = decoder->names.bytes,
                                .nnames = decoder->nnames,
                                .part = header->part};
    return 0;
}

static int get_events(struct dft_decoder *decoder, const struct dft_block_header *header, const void *payload,
                      struct dft_batch *batch)
{
    struct getting g;
    uint32_t nshapes;
    int status = get_shapes(decoder, &nshapes);

    if (!status)
        status = dft_shapes_get(decoder, header->count);
    if (!status)
        status = dft_times_get(decoder, header, payload);
    if (!status)
        status = getting_begin(&g, decoder, nshapes);
    if (!status)
        status = dft_buffer_reserve(&decoder->events, header->count * sizeof(struct dft_event));
    if (status)
        return status;
    get_all_events(&g, decoder->events.bytes, header, decoder->times.bytes);
    batch->events = decoder->events.bytes;
    batch->count = header->count;
    status = decoder->columns.reason ? -EBADMSG : get_numbers(decoder, header, batch);
    return status ? status : dft_args_get(decoder, header, batch);
}

int dft_decode_events_if(struct dft_decoder *decoder, const struct dft_block_header *header, const void *payload,
                         dft_decode_wants_fn *wants, void *context, struct dft_batch *batch, const char **reason)
{
    int status = dft_decoder_open(decoder, header, payload, specs, NSPECS, reason);

    if (status)
        return status;
    status = get_names(decoder, header, batch);
    if (!status && (!wants || wants(context, batch)))
        status = get_events(decoder, header, payload, batch);
    return dft_decoder_result(decoder, status, reason);
}

int dft_decode_events(struct dft_decoder *decoder, const struct dft_block_header *header, const void *payload,
                      struct dft_batch *batch, const char **reason)
{
    return dft_decode_events_if(decoder, header, payload, NULL, NULL, batch, reason);
}
