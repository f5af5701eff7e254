/* SPDX-License-Identifier: MIT */
/* Reading live files off line: what a killed process left, or what a running one has not drained
 * yet. */
#include "format/live_read.h"
#include "format/live_table.h"
#include "format/unfinished.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/calls.h"

int dft_live_check(const void *bytes, size_t length, const struct dft_live **live, const char **reason)
{
    const struct dft_live *head = bytes;

    if (length < DFT_LIVE_PAGE)
        *reason = "shorter than its header";
    else if (__atomic_load_n(&head->magic, __ATOMIC_ACQUIRE) != DFT_LIVE_MAGIC)
        *reason = "not a live file (or one that was just created)";
    else if (head->version != DFT_LIVE_VERSION || head->rows_id != dft_call_rows_id())
        *reason = "written by another version: use the dftmerge of that version on it";
    else if (head->interval_ns == 0)
        *reason = "its header makes no sense";
    else
        return *live = head, 0;
    return -EBADMSG;
}

static int ring_fits(const struct dft_ring *ring, size_t left)
{
    return __atomic_load_n(&ring->magic, __ATOMIC_ACQUIRE) == DFT_RING_MAGIC && ring->capacity >= 64 &&
           ring->capacity <= DFT_RING_SLOTS_MAX && !(ring->capacity & (ring->capacity - 1)) &&
           ring->shift == (uint32_t)__builtin_ctz(ring->capacity) && dft_ring_bytes(ring->capacity) <= left;
}

const struct dft_ring *dft_live_ring(const void *bytes, size_t length, size_t *offset)
{
    if (*offset < DFT_LIVE_PAGE)
        *offset = DFT_LIVE_PAGE;
    for (; *offset + DFT_LIVE_PAGE <= length; *offset += DFT_LIVE_PAGE) {
        const struct dft_ring *ring = (const struct dft_ring *)((const char *)bytes + *offset);

        if (ring->magic == DFT_LIVE_TABLE_MAGIC && length - *offset >= DFT_LIVE_TABLE_BYTES)
            *offset += DFT_LIVE_TABLE_BYTES - DFT_LIVE_PAGE;
        if (!ring_fits(ring, length - *offset))
            continue;
        *offset += dft_ring_bytes(ring->capacity);
        return ring;
    }
    return NULL;
}

#define HEAD_TRIES 64

/* One copy. The head is read first: what its owner did before its last record is in the copy. The
 * call in flight is whole, or there is none. Returns 0, or -EAGAIN: there are further records. */
static int copy_head_once(struct dft_ring *to, struct dft_ring *ring)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    uint32_t depth = atomic_load_explicit(&ring->depth, memory_order_acquire), call;
    uint64_t start = __atomic_load_n(&ring->flight_start, __ATOMIC_ACQUIRE);

    call = atomic_load_explicit(&ring->flight_call, memory_order_acquire);
    memcpy(to, ring, DFT_LIVE_PAGE);
    atomic_thread_fence(memory_order_acquire);
    if (__atomic_load_n(&ring->flight_start, __ATOMIC_RELAXED) != start ||
        atomic_load_explicit(&ring->flight_call, memory_order_relaxed) != call)
        call = DFT_CALL_NONE;
    to->flight_start = start;
    atomic_store_explicit(&to->flight_call, call, memory_order_relaxed);
    atomic_store_explicit(&to->depth, depth, memory_order_relaxed);
    atomic_store_explicit(&to->head, head, memory_order_relaxed);
    return atomic_load_explicit(&ring->head, memory_order_relaxed) == head ? 0 : -EAGAIN;
}

void dft_live_copy_head(struct dft_ring *to, const struct dft_ring *from)
{
    struct dft_ring *ring = (struct dft_ring *)(uintptr_t)from;
    uint32_t words[DFT_OPEN_REGIONS];
    uint64_t starts[DFT_OPEN_REGIONS];

    for (uint32_t i = 0; i < DFT_OPEN_REGIONS; i++) {
        words[i] = atomic_load_explicit(&ring->region_args[i], memory_order_acquire);
        starts[i] = dft_region_start(&ring->regions[i]);
    }
    /* A run that becomes a record is in the copy as a run, or below its head */
    for (int i = 0; i < HEAD_TRIES && copy_head_once(to, ring); i++)
        ;
    for (uint32_t i = 0; i < DFT_OPEN_REGIONS; i++) {
        int same = i < atomic_load_explicit(&ring->depth, memory_order_relaxed) &&
                   atomic_load_explicit(&ring->region_args[i], memory_order_relaxed) == words[i] &&
                   dft_region_start(&ring->regions[i]) == starts[i];

        atomic_store_explicit(&to->region_args[i], same ? words[i] : 0, memory_order_relaxed);
    }
}

/* A private copy, so that a running owner does not change what was checked, and room for its
 * batches. */
struct reading {
    struct dft_ring *ring;
    struct dft_ring_decoder decoder;
};

static void reading_fini(struct reading *reading)
{
    free(reading->ring);
    free(reading->decoder.events);
    free(reading->decoder.calls);
    free(reading->decoder.names);
    free(reading->decoder.args);
    free(reading->decoder.text);
    free(reading->decoder.taken);
    free(reading->decoder.call_of);
}

static int reading_init(struct reading *reading, const struct dft_live *live, const struct dft_ring *ring,
                        const struct dft_live_reader *reader)
{
    uint32_t slots = ring->capacity;
    struct dft_ring_decoder *decoder = &reading->decoder;

    *reading = (struct reading){.ring = aligned_alloc(64, dft_ring_bytes(slots))};
    decoder->events_max = decoder->names_max = DFT_BLOCK_EVENTS_MAX;
    decoder->args_max = DFT_BLOCK_EVENTS_MAX * 4;
    decoder->text_max = DFT_RING_SLOTS_MAX * DFT_PART_BYTES;
    decoder->events = malloc(decoder->events_max * sizeof *decoder->events);
    decoder->calls = malloc(decoder->events_max * sizeof *decoder->calls);
    decoder->names = malloc(decoder->names_max * sizeof *decoder->names);
    decoder->args = malloc(decoder->args_max * sizeof *decoder->args);
    decoder->text = malloc(decoder->text_max);
    decoder->taken = calloc(DFT_RING_SLOTS_MAX / 64, sizeof *decoder->taken);
    decoder->call_of = calloc(DFT_RING_DECODER_HASH, sizeof *decoder->call_of);
    if (!reading->ring || !decoder->events || !decoder->calls || !decoder->names || !decoder->args || !decoder->text ||
        !decoder->taken || !decoder->call_of)
        return -ENOMEM;
    dft_live_copy_head(reading->ring, ring);
    memcpy(dft_ring_slot(reading->ring, 0), dft_ring_slot(ring, 0), slots * sizeof(struct dft_slot));
    reading->ring->capacity = slots;
    reading->ring->shift = (uint32_t)__builtin_ctz(slots);
    decoder->clock = &live->clock;
    decoder->metric = live->metric;
    decoder->key = live->key;
    decoder->torn_ok = 1;
    decoder->covered = reader->covered;
    decoder->context = reader->context;
    return 0;
}

/* Those of a process that came to its end are records. */
static int emit_requests(struct reading *reading, const struct dft_live *live, const struct dft_live_reader *reader)
{
    struct dft_batch batch;
    int result = 0;

    if (atomic_load(&((struct dft_live *)(uintptr_t)live)->state) != DFT_LIVE_RUNNING)
        return 0;
    do {
        dft_requests_batch(reading->ring, &reading->decoder, &batch);
        if (batch.count)
            result = reader->emit(reader->context, &batch);
    } while (!result && batch.count);
    return result;
}

int dft_live_batches(const struct dft_live *live, const struct dft_ring *ring, struct dft_live_reader *reader)
{
    struct reading reading;
    struct dft_batch batch;
    const struct dft_ended ended = {atomic_load(&((struct dft_live *)(uintptr_t)live)->ended_ns),
                                    (uint8_t)atomic_load(&((struct dft_live *)(uintptr_t)live)->exit_kind)};
    uint64_t sequence, head;
    int result = reading_init(&reading, live, ring, reader);

    if (result)
        goto out;
    if (atomic_load(&reading.ring->requests)) {
        result = emit_requests(&reading, live, reader);
        goto out;
    }
    head = atomic_load(&reading.ring->head);
    sequence = head > reading.ring->capacity ? head - reading.ring->capacity : 0;
    if (sequence < reading.ring->base)
        sequence = reading.ring->base <= head ? reading.ring->base : head;
    while (sequence < head && !result) {
        dft_ring_decode(reading.ring, &sequence, head, &reading.decoder, &batch);
        if (batch.count || batch.nnames)
            result = reader->emit(reader->context, &batch);
    }
    reader->torn = reading.decoder.torn;
    dft_unclaim_regions(reading.ring, reader);
    dft_unfinished_batch(reading.ring, &reading.decoder, reader, &ended, &batch);
    if (batch.count && !result)
        result = reader->emit(reader->context, &batch);
    dft_open_batch(reading.ring, &reading.decoder, &batch);
    if (batch.count && !result)
        result = reader->emit(reader->context, &batch);
out:
    reading_fini(&reading);
    return result;
}
