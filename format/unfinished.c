/* SPDX-License-Identifier: MIT */
/* What a thread had begun and not ended: its runs, its open regions, the call in flight. Used by
 * the finaliser and by readers of live files. */
#include "format/hash.h"
#include "format/live_read.h"
#include "format/unfinished.h"

#include <string.h>

#include "format/calls.h"
#include "format/slot_event.h"
#include "format/end.h"

static void add_open(const struct dft_ring_decoder *decoder, struct dft_batch *batch, uint32_t call, uint64_t start,
                     uint64_t region, uint16_t depth)
{
    batch->events[batch->count++] = (struct dft_event){.start_ns = dft_clock_ns(decoder->clock, start),
                                                       .region = region,
                                                       .offset = -1,
                                                       .fd = -1,
                                                       .calls = 1,
                                                       .unit = 1,
                                                       .call = call,
                                                       .depth = depth,
                                                       .phase = DFT_PHASE_BEGIN,
                                                       .bits = DFT_BIT_OPEN};
}

static void run_event(const struct dft_burst *run, const struct dft_clock *clock, uint32_t position,
                      struct dft_event *event)
{
    uint64_t moved = atomic_load_explicit(&((struct dft_burst *)(uintptr_t)run)->moved, memory_order_relaxed);

    *event = (struct dft_event){.start_ns = dft_clock_ns(clock, run->start),
                                .file = run->file,
                                .region = run->region,
                                .size = moved >> DFT_BURST_CALL_BITS,
                                .result = (int64_t)(moved >> DFT_BURST_CALL_BITS),
                                .offset = run->offset,
                                .call = position,
                                .calls = (uint32_t)moved & ((1u << DFT_BURST_CALL_BITS) - 1),
                                .unit = 1,
                                .fd = run->fd,
                                .depth = run->depth,
                                .bits = run->bits,
                                .phase = DFT_PHASE_COMPLETE};
    event->dur_ns = dft_clock_since(clock, event->start_ns, run->start + run->duration);
}

/* Position of the call in the batch; added when it is not there. */
static uint32_t position_of(struct dft_batch *batch, struct dft_call call)
{
    uint32_t i = 0;

    while (i < batch->ncalls &&
           (batch->calls[i].id != call.id || batch->calls[i].op != call.op || batch->calls[i].io != call.io))
        i++;
    if (i == batch->ncalls)
        batch->calls[batch->ncalls++] = call;
    return i;
}

/* call: as in a slot. */
static uint32_t position_of_call(struct dft_batch *batch, uint32_t call)
{
    const struct dft_call_row *row = &dft_call_rows[dft_slot_number(call)];
    const struct dft_text text = {dft_call_text(row), row->length};

    return position_of(batch, (struct dft_call){.id = dft_name_id(text.bytes, text.length),
                                                .text = text,
                                                .op = row->op,
                                                .io = dft_slot_io(call, (uint8_t)dft_op_io(row->op))});
}

static uint32_t position_of_region(struct dft_batch *batch, uint64_t name)
{
    return position_of(batch, (struct dft_call){.id = name, .op = DFT_OP_REGION, .io = DFT_IO_NONE});
}

static uint64_t key_of(const struct dft_live_reader *reader)
{
    return ((const struct dft_live *)reader->bytes)->key;
}

/* Does a ring hold the run's record, or the run itself at its new place? Later rings have what was moved. */
static int ring_has_run(const struct dft_ring *ring, const struct dft_ring *home, const struct dft_burst *run,
                        uint32_t call)
{
    uint64_t head = atomic_load(&((struct dft_ring *)(uintptr_t)ring)->head);

    for (uint32_t i = 0; ring->stream > home->stream && i < DFT_BURSTS; i++)
        if (atomic_load(&((struct dft_burst *)(uintptr_t)&ring->bursts[i])->call) == call &&
            ring->bursts[i].start == run->start && ring->bursts[i].file == run->file)
            return 1;
    for (uint64_t at = head - ring->base > ring->capacity ? head - ring->capacity : ring->base; at < head; at++) {
        const struct dft_slot *slot = dft_ring_slot(ring, at);

        if (atomic_load(&((struct dft_slot *)(uintptr_t)slot)->marker) == dft_ring_marker(ring, at, DFT_SLOT_VALID) &&
            slot->start == run->start && slot->file == run->file && dft_slot_number(slot->call) == call)
            return 1;
    }
    return 0;
}

/* Does a record that is read stand in a ring of the run's thread? The ring's head may have been copied
 * after the record had its number, and before the run announced it. */
static int run_is_in_rings(const struct dft_live_reader *reader, const struct dft_ring *home,
                           const struct dft_burst *run, uint32_t call)
{
    const struct dft_ring *ring;
    size_t offset = 0;

    while ((ring = dft_live_ring(reader->bytes, reader->length, &offset)))
        if (ring->tid == home->tid && !atomic_load(&((struct dft_ring *)(uintptr_t)ring)->requests) &&
            ring_has_run(ring, home, run, call))
            return 1;
    return 0;
}

/* Has the run become a record: one that stands whole in a ring, or is in a block? */
static int run_is_recorded(const struct dft_live_reader *reader, const struct dft_burst *run)
{
    uint64_t record = atomic_load(&((struct dft_burst *)(uintptr_t)run)->record);
    const struct dft_ring *ring;
    size_t offset = 0;

    if (!record--)
        return 0;
    while ((ring = dft_live_ring(reader->bytes, reader->length, &offset)))
        if (ring->stream == run->record_stream &&
            atomic_load(&dft_ring_slot(ring, record)->marker) == dft_ring_marker(ring, record, DFT_SLOT_VALID))
            return 1;
    return reader->covered && reader->covered(reader->context, key_of(reader), run->record_stream, record);
}

static void add_runs(struct dft_ring *ring, const struct dft_ring_decoder *decoder,
                     const struct dft_live_reader *reader, struct dft_batch *batch)
{
    for (uint32_t i = 0; i < DFT_BURSTS; i++) {
        uint32_t call = atomic_load(&ring->bursts[i].call), position;
        struct dft_event *event = &batch->events[batch->count];

        if (call == DFT_CALL_NONE || call >= DFT_CALL_COUNT || !dft_burst_calls(&ring->bursts[i]) ||
            (reader &&
             (run_is_recorded(reader, &ring->bursts[i]) || run_is_in_rings(reader, ring, &ring->bursts[i], call))))
            continue;
        position = position_of_call(batch, call | dft_slot_marks(ring->bursts[i].io & 7, 0));
        run_event(&ring->bursts[i], decoder->clock, position, event);
        if (!reader || !reader->recorded || !reader->recorded(reader->context, ring, &batch->calls[position], event))
            batch->count++;
    }
}

/* One item. Returns its length, 0: it makes no sense. */
static uint32_t arg_of_item(const uint8_t *item, uint32_t left, struct dft_arg *arg)
{
    uint32_t length = 8;

    if (left < 13 || *item < DFT_ITEM_ARG_INT || *item > DFT_ITEM_ARG_STRING)
        return 0;
    memcpy(&arg->key, item + 1, 8);
    if (*item != DFT_ITEM_ARG_STRING) {
        if (left < 17)
            return 0;
        arg->type = *item == DFT_ITEM_ARG_INT ? DFT_ARG_INT : DFT_ARG_DOUBLE;
        memcpy(&arg->i, item + 9, 8);
        return 17;
    }
    memcpy(&length, item + 9, 4);
    if (length > left - 13)
        return 0;
    arg->type = DFT_ARG_STRING;
    arg->s = (struct dft_text){(const char *)item + 13, length};
    return 13 + length;
}

/* The arguments that an open region has, for the last event: none when it is another region by
 * now. */
static void add_args(struct dft_ring *ring, const struct dft_ring_decoder *decoder, uint32_t index, uint64_t start,
                     struct dft_batch *batch)
{
    uint32_t word = atomic_load_explicit(&ring->region_args[index], memory_order_acquire);
    uint32_t from = dft_region_args_from(word), end = dft_region_args_end(word), n;

    if (from > end || end > DFT_ARGS_BYTES)
        return;
    memcpy(decoder->text + from, ring->args + from, end - from); /* those of each region have a place of their own */
    atomic_thread_fence(memory_order_acquire);
    if (dft_region_start(&ring->regions[index]) != start ||
        atomic_load_explicit(&ring->region_args[index], memory_order_relaxed) != word)
        return;
    batch->args = decoder->args;
    for (; from < end && batch->nargs < decoder->args_max - DFT_OPEN_REGIONS; from += n, batch->nargs++) {
        struct dft_arg *arg = &decoder->args[batch->nargs];

        n = arg_of_item((const uint8_t *)decoder->text + from, end - from, arg);
        if (!n)
            return;
        arg->event = batch->count - 1;
    }
    if (word & DFT_REGION_ARGS_CUT)
        batch->events[batch->count - 1].bits |= DFT_BIT_CUT;
}

/* Says what ended the region of the last event: nobody did in the program. */
static void add_reason(struct dft_ring_decoder *decoder, enum dft_ending exit_kind, struct dft_batch *batch)
{
    static const char key[] = "\0" DFT_ENDED_BY;
    const char *text = dft_ending_text(exit_kind);
    uint64_t id = dft_name_id(key, sizeof key - 1);

    batch->args = decoder->args;
    batch->names = decoder->names;
    if (!batch->nnames)
        batch->names[batch->nnames++] = (struct dft_name){.id = id, .text = {key, sizeof key - 1}};
    batch->args[batch->nargs++] = (struct dft_arg){
        .key = id, .event = batch->count - 1, .type = DFT_ARG_STRING, .s = {text, (uint32_t)strlen(text)}};
}

/* The open regions, from the outermost, as ended by the end of the process. */
static void add_regions(struct dft_ring *ring, struct dft_ring_decoder *decoder, const struct dft_ended *ended,
                        struct dft_batch *batch)
{
    uint32_t depth = atomic_load(&ring->depth), known = depth < DFT_OPEN_REGIONS ? depth : DFT_OPEN_REGIONS;
    uint64_t outer = 0;

    for (uint32_t i = 0; i < known; i++) {
        uint64_t start = dft_region_start(&ring->regions[i]), name = dft_region_claim(&ring->regions[i]);
        struct dft_event *event = &batch->events[batch->count];

        if (!name)
            continue;
        if (!start) { /* a span that goes on here has an event of its own */
            outer = name;
            continue;
        }
        add_open(decoder, batch, position_of_region(batch, name), start, outer, (uint16_t)i);
        event->phase = DFT_PHASE_COMPLETE;
        event->bits = 0;
        event->dur_ns = ended->time_ns > event->start_ns ? ended->time_ns - event->start_ns : 0;
        add_args(ring, decoder, i, start, batch);
        add_reason(decoder, (enum dft_ending)ended->exit_kind, batch);
        outer = name;
    }
}

void dft_unclaim_regions(struct dft_ring *ring, const struct dft_live_reader *reader)
{
    int written = reader->covered && reader->covered(reader->context, key_of(reader), ring->stream | DFT_BURST_STREAMS,
                                                     atomic_load(&ring->bursts_taken));

    for (uint32_t i = 0; i < DFT_OPEN_REGIONS; i++) {
        if (written && ring->regions[i].start & DFT_REGION_CLAIMED)
            ring->regions[i].name = 0;
        ring->regions[i].start = dft_region_start(&ring->regions[i]);
    }
}

void dft_unfinished_batch(struct dft_ring *ring, struct dft_ring_decoder *decoder, const struct dft_live_reader *reader,
                          const struct dft_ended *ended, struct dft_batch *batch)
{
    *batch = (struct dft_batch){.key = decoder->key,
                                .stream = ring->stream | DFT_BURST_STREAMS,
                                .tid = ring->tid,
                                .first = atomic_load(&ring->bursts_taken),
                                .events = decoder->events,
                                .calls = decoder->calls};
    if (!atomic_load(&ring->paused))
        add_runs(ring, decoder, reader, batch);
    if (ended->time_ns && !atomic_load(&ring->paused))
        add_regions(ring, decoder, ended, batch);
    batch->last = batch->first + batch->count - 1;
}

void dft_requests_batch(struct dft_ring *ring, const struct dft_ring_decoder *decoder, struct dft_batch *batch)
{
    *batch = (struct dft_batch){
        .key = decoder->key, .stream = ring->stream, .first = 1, .events = decoder->events, .calls = decoder->calls};
    for (uint32_t i = 0; i < ring->capacity && batch->count < decoder->events_max; i++) {
        struct dft_slot *slot = dft_ring_slot(ring, i);
        struct dft_event *event = &batch->events[batch->count];

        if ((atomic_load(&slot->marker) & 3) != DFT_SLOT_VALID || !dft_slot_is_call(slot->call) ||
            (batch->count && slot->duration != batch->tid))
            continue;
        batch->tid = slot->duration;
        add_open(decoder, batch, position_of_call(batch, slot->call), slot->start, slot->region, slot->depth);
        event->file = slot->file;
        event->fd = slot->fd;
        event->size = slot->size | (uint64_t)slot->err << 32;
        event->offset = slot->offset;
        event->id = (uint64_t)slot->result;
        event->bits |= slot->bits & (DFT_BIT_SEQUENTIAL | DFT_BIT_CONSECUTIVE);
        event->bits |= slot->call & DFT_SLOT_TURN ? DFT_BIT_TURN : 0;
        atomic_store(&slot->marker, DFT_SLOT_FREE);
    }
}

/* The text of a path that the reader has found. */
static void add_path(struct dft_ring *ring, const struct dft_ring_decoder *decoder, struct dft_batch *batch)
{
    const char *path = dft_flight_path(ring);
    size_t length = strnlen(path, DFT_FLIGHT_PATH_ROOM);

    if (!length || length == DFT_FLIGHT_PATH_ROOM || dft_name_id(path, length) != ring->flight_file)
        return;
    batch->names = decoder->names;
    batch->names[batch->nnames++] = (struct dft_name){.id = ring->flight_file, .text = {path, (uint32_t)length}};
}

/* What was open when the copy was made: the regions from the outermost, then the call. */
void dft_open_batch(struct dft_ring *ring, const struct dft_ring_decoder *decoder, struct dft_batch *batch)
{
    uint32_t depth = atomic_load(&ring->depth), call = atomic_load(&ring->flight_call);
    uint32_t known = depth < DFT_OPEN_REGIONS ? depth : DFT_OPEN_REGIONS;
    uint64_t region = 0;

    *batch = (struct dft_batch){.key = decoder->key,
                                .stream = ring->stream,
                                .tid = ring->tid,
                                .first = 1,
                                .events = decoder->events,
                                .calls = decoder->calls};
    for (uint32_t i = 0; i < known; i++) {
        if (!ring->regions[i].name || ring->regions[i].start & DFT_REGION_CLAIMED)
            continue;
        if (!ring->regions[i].start) {
            region = ring->regions[i].name;
            continue;
        }
        add_open(decoder, batch, position_of_region(batch, ring->regions[i].name), ring->regions[i].start, region,
                 (uint16_t)i);
        add_args(ring, decoder, i, ring->regions[i].start, batch);
        region = ring->regions[i].name;
    }
    if (dft_slot_is_call(call)) {
        add_open(decoder, batch, position_of_call(batch, call), ring->flight_start, region, (uint16_t)depth);
        batch->events[batch->count - 1].file = ring->flight_file;
        add_path(ring, decoder, batch);
        batch->events[batch->count - 1].fd = ring->flight_fd;
    }
}
