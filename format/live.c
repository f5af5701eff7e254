/* Reading live files off line: what a killed process left, or what a running one has not drained yet. */
#include "live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "codec.h"

int dft_live_check(const void *bytes, size_t length, const struct dft_live **live, const char **why)
{
    const struct dft_live *head = bytes;

    if (length < DFT_LIVE_PAGE)
        *why = "shorter than its header";
    else if (head->magic != DFT_LIVE_MAGIC)
        *why = "not a live file (or one that was just created)";
    else if (head->version != DFT_LIVE_VERSION || head->rows_id != dft_call_rows_id())
        *why = "written by another version: use the dftmerge of that version on it";
    else if (head->interval_ns == 0)
        *why = "its header makes no sense";
    else
        return *live = head, 0;
    return -EBADMSG;
}

static int ring_fits(const struct dft_ring *ring, size_t left)
{
    return ring->magic == DFT_RING_MAGIC && ring->capacity >= 64 && ring->capacity <= DFT_RING_SLOTS_MAX &&
           !(ring->capacity & (ring->capacity - 1)) && ring->shift == (uint32_t)__builtin_ctz(ring->capacity) &&
           dft_ring_bytes(ring->capacity) <= left;
}

const struct dft_ring *dft_live_ring(const void *bytes, size_t length, size_t *offset)
{
    if (*offset < DFT_LIVE_PAGE)
        *offset = DFT_LIVE_PAGE;
    for (; *offset + DFT_LIVE_PAGE <= length; *offset += DFT_LIVE_PAGE) {
        const struct dft_ring *ring = (const struct dft_ring *)((const char *)bytes + *offset);

        if (!ring_fits(ring, length - *offset))
            continue;
        *offset += dft_ring_bytes(ring->capacity);
        return ring;
    }
    return NULL;
}

/* A private copy, so that a running owner does not change what was checked, and room for its batches. */
struct reading {
    struct dft_ring *ring;
    struct dft_take take;
};

static void reading_fini(struct reading *reading)
{
    free(reading->ring);
    free(reading->take.events);
    free(reading->take.calls);
    free(reading->take.names);
    free(reading->take.args);
    free(reading->take.text);
    free(reading->take.taken);
    free(reading->take.call_of);
}

static int reading_init(struct reading *reading, const struct dft_live *live, const struct dft_ring *ring,
                        const struct dft_live_reader *reader)
{
    uint32_t slots = ring->capacity;
    struct dft_take *take = &reading->take;

    *reading = (struct reading){.ring = aligned_alloc(64, dft_ring_bytes(slots))};
    take->events_max = take->names_max = DFT_BLOCK_EVENTS_MAX;
    take->args_max = DFT_BLOCK_EVENTS_MAX * 4;
    take->text_max = DFT_RING_SLOTS_MAX * DFT_PART_BYTES;
    take->events = malloc(take->events_max * sizeof *take->events);
    take->calls = malloc(take->events_max * sizeof *take->calls);
    take->names = malloc(take->names_max * sizeof *take->names);
    take->args = malloc(take->args_max * sizeof *take->args);
    take->text = malloc(take->text_max);
    take->taken = calloc(DFT_RING_SLOTS_MAX / 64, sizeof *take->taken);
    take->call_of = calloc(DFT_TAKE_HASH, sizeof *take->call_of);
    if (!reading->ring || !take->events || !take->calls || !take->names || !take->args || !take->text || !take->taken ||
        !take->call_of)
        return -ENOMEM;
    memcpy(reading->ring, ring, dft_ring_bytes(slots));
    reading->ring->capacity = slots;
    reading->ring->shift = (uint32_t)__builtin_ctz(slots);
    take->clock = &live->clock;
    take->metric = live->metric;
    take->key = live->key;
    take->torn_ok = 1;
    take->covered = reader->covered;
    take->context = reader->context;
    return 0;
}

static void add_open(const struct reading *reading, struct dft_batch *batch, uint32_t call, uint64_t start,
                     uint64_t region, uint16_t depth)
{
    batch->events[batch->count++] = (struct dft_event){.start_ns = dft_clock_ns(reading->take.clock, start),
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

static void run_event(const struct dft_run *run, const struct dft_clock *clock, uint32_t position,
                      struct dft_event *event)
{
    uint64_t moved = atomic_load_explicit(&((struct dft_run *)(uintptr_t)run)->moved, memory_order_relaxed);

    *event = (struct dft_event){.start_ns = dft_clock_ns(clock, run->start),
                                .file = run->file,
                                .region = run->region,
                                .size = moved >> DFT_RUN_CALL_BITS,
                                .result = (int64_t)(moved >> DFT_RUN_CALL_BITS),
                                .offset = run->offset,
                                .call = position,
                                .calls = (uint32_t)moved & ((1u << DFT_RUN_CALL_BITS) - 1),
                                .unit = 1,
                                .fd = run->fd,
                                .depth = run->depth,
                                .bits = run->bits,
                                .phase = DFT_PHASE_COMPLETE};
    event->dur_ns = dft_clock_ns(clock, run->start + run->duration) - event->start_ns;
}

/* Position of the call in the batch; added when it is not there. */
static uint32_t position_of_call(struct dft_batch *batch, const struct dft_call_row *row)
{
    uint64_t id = dft_name_id(row->text, row->length);
    uint32_t i = 0;

    while (i < batch->ncalls && batch->calls[i].id != id)
        i++;
    if (i == batch->ncalls)
        batch->calls[batch->ncalls++] = (struct dft_call){.id = id, .text = {row->text, row->length}, .op = row->op};
    return i;
}

/* Has the run become a record: one that stands whole in a ring, or is in a block? */
static int run_is_recorded(const struct dft_live_reader *reader, const struct dft_run *run)
{
    uint64_t record = atomic_load(&((struct dft_run *)(uintptr_t)run)->record);
    const struct dft_ring *ring;
    size_t offset = 0;

    if (!record--)
        return 0;
    while ((ring = dft_live_ring(reader->bytes, reader->length, &offset)))
        if (ring->stream == run->record_stream &&
            atomic_load(&dft_ring_slot(ring, record)->marker) == dft_ring_marker(ring, record, DFT_SLOT_VALID))
            return 1;
    return reader->covered && reader->covered(reader->context, run->record_stream, record);
}

void dft_runs_batch(struct dft_ring *ring, struct dft_take *take, const struct dft_live_reader *reader,
                    struct dft_batch *batch)
{
    *batch = (struct dft_batch){.key = take->key,
                                .stream = ring->stream | DFT_RUN_STREAMS,
                                .tid = ring->tid,
                                .first = atomic_load(&ring->runs_taken),
                                .events = take->events,
                                .calls = take->calls};
    for (uint32_t i = 0; i < DFT_RUNS; i++) {
        uint32_t call = atomic_load(&ring->runs[i].call);
        const struct dft_call_row *row = &dft_call_rows[call < DFT_CALL_COUNT ? call : 0];

        if (call == DFT_CALL_NONE || call >= DFT_CALL_COUNT || !dft_run_calls(&ring->runs[i]) ||
            (reader && run_is_recorded(reader, &ring->runs[i])))
            continue;
        run_event(&ring->runs[i], take->clock, position_of_call(batch, row), &batch->events[batch->count++]);
    }
    batch->last = batch->first + batch->count - 1;
}

/* What was open when the copy was made: the regions from the outermost, then the call. */
static void open_batch(const struct reading *reading, struct dft_batch *batch)
{
    const struct dft_ring *ring = reading->ring;
    uint32_t depth = atomic_load(&reading->ring->depth), call = atomic_load(&reading->ring->flight_call);
    uint32_t known = depth < DFT_OPEN_REGIONS ? depth : DFT_OPEN_REGIONS;
    uint64_t region = 0;

    *batch = (struct dft_batch){.key = reading->take.key,
                                .stream = ring->stream,
                                .tid = ring->tid,
                                .first = 1,
                                .events = reading->take.events,
                                .calls = reading->take.calls};
    for (uint32_t i = 0; i < known; i++) {
        batch->calls[batch->ncalls] = (struct dft_call){.id = ring->regions[i].name, .op = DFT_OP_REGION};
        add_open(reading, batch, batch->ncalls++, ring->regions[i].start, region, (uint16_t)i);
        region = ring->regions[i].name;
    }
    if (call > DFT_CALL_NONE && call < DFT_CALL_COUNT) {
        const struct dft_call_row *row = &dft_call_rows[call];

        batch->calls[batch->ncalls] = (struct dft_call){
            .id = dft_name_id(row->text, row->length), .text = {row->text, row->length}, .op = row->op};
        add_open(reading, batch, batch->ncalls++, ring->flight_start, region, (uint16_t)depth);
        batch->events[batch->count - 1].file = ring->flight_file;
        batch->events[batch->count - 1].fd = ring->flight_fd;
    }
}

int dft_live_batches(const struct dft_live *live, const struct dft_ring *ring, struct dft_live_reader *reader)
{
    struct reading reading;
    struct dft_batch batch;
    uint64_t sequence, head;
    int result = reading_init(&reading, live, ring, reader);

    if (result)
        goto out;
    head = atomic_load(&reading.ring->head);
    sequence = head > reading.ring->capacity ? head - reading.ring->capacity : 0;
    if (sequence < reading.ring->base)
        sequence = reading.ring->base <= head ? reading.ring->base : head;
    while (sequence < head && !result) {
        dft_ring_take(reading.ring, &sequence, head, &reading.take, &batch);
        if (batch.count || batch.nnames)
            result = reader->give(reader->context, &batch);
    }
    reader->torn = reading.take.torn;
    dft_runs_batch(reading.ring, &reading.take, reader, &batch);
    if (batch.count && !result)
        result = reader->give(reader->context, &batch);
    open_batch(&reading, &batch);
    if (batch.count && !result)
        result = reader->give(reader->context, &batch);
out:
    reading_fini(&reading);
    return result;
}
