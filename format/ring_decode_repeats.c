/* SPDX-License-Identifier: MIT */
/* The common records of a ring, of one slot each, become events, many at once. Nearly all of what a
 * drain takes comes this way. */
#include "batch_builder.h"

#include "format/calls.h"
#include "format/event.h"
#include "format/hash.h"
#include "format/leb128.h"
#include "slot_event.h"

static uint32_t call_add(struct dft_batch *batch, const char *text, uint8_t length, uint64_t id, uint8_t op)
{
    struct dft_call *call = &batch->calls[batch->ncalls];

    call->op = op;
    call->text.bytes = text;
    call->text.length = length;
    call->id = text ? dft_name_id(text, length) : id;
    return batch->ncalls++;
}

uint32_t dft_batch_builder_call(struct dft_batch_builder *builder, const struct dft_slot *slot)
{
    struct dft_ring_decoder *decoder = builder->decoder;
    struct dft_batch *batch = builder->batch;
    uint32_t *at;

    if (slot->call < DFT_CALL_COUNT) {
        at = &decoder->call_of[slot->call];
        if (!*at)
            *at = 1 + call_add(batch, dft_call_rows[slot->call].text, dft_call_rows[slot->call].length, 0,
                               dft_call_rows[slot->call].op);
        return *at - 1;
    }
    decoder->annotated = 1;
    for (uint32_t i = (uint32_t)((slot->file ^ slot->call) * UINT64_C(0x9e3779b97f4a7c15) >> 51);; i++) {
        const struct dft_call *call;

        at = &decoder->call_of[i % DFT_RING_DECODER_HASH];
        if (i % DFT_RING_DECODER_HASH < DFT_CALL_COUNT)
            continue;
        if (!*at) {
            *at = 1 + call_add(batch, NULL, 0, slot->file, (uint8_t)(slot->call - DFT_CALL_ANNOTATION));
            return *at - 1;
        }
        call = &batch->calls[*at - 1];
        if (!call->text.bytes && call->id == slot->file && call->op == (uint8_t)(slot->call - DFT_CALL_ANNOTATION))
            return *at - 1;
    }
}

void dft_batch_builder_mark(const struct dft_ring_decoder *decoder, const struct dft_ring *ring, uint64_t sequence,
                            uint64_t end)
{
    while (sequence < end) {
        uint32_t index = (uint32_t)sequence & (ring->capacity - 1), bit = index % 64;
        uint64_t n = end - sequence < 64 - bit ? end - sequence : 64 - bit;

        decoder->taken[index / 64] |= (UINT64_MAX >> (64 - n)) << bit;
        sequence += n;
    }
}

/* --- repeats ---------------------------------------------------------------------------------- */

/* Ticks to ns without numbers of 128 bits, for ticks from `origin` on and less than `most` behind
 * it: the same to the last bit. */
struct near_clock {
    uint64_t origin, most;
    uint64_t origin_ns, rest; /* and how much of the next ns has passed, in 2^-32 of it */
    uint64_t mult;
};

/* `most`: of a clock that has no earlier part, however late the origin. Returns 0 where it cannot
 * be told in this way. */
static inline int near_clock_init(struct near_clock *near, const struct dft_clock *clock, uint64_t most,
                                  uint64_t origin)
{
    unsigned __int128 product = (unsigned __int128)(origin - clock->base_ticks) * clock->mult;

    if (origin < clock->base_ticks || origin - clock->earlier.first < clock->earlier.count)
        return 0;
    *near = (struct near_clock){.origin = origin,
                                .most = most,
                                .origin_ns = clock->base_ns + (uint64_t)(product >> 32),
                                .rest = (uint32_t)product,
                                .mult = clock->mult};
    if (clock->earlier.first > origin && clock->earlier.first - origin < most)
        near->most = clock->earlier.first - origin;
    return near->origin_ns >> 62 == 0;
}

/* So that neither the product nor its sum with the rest has more than 64 bits. */
static uint64_t near_most(const struct dft_clock *clock)
{
    return clock->mult ? (UINT64_C(1) << 62) / clock->mult : UINT64_C(1) << 62;
}

/* ns from the origin's on. */
static inline uint64_t near_ns(const struct near_clock *near, uint64_t ticks)
{
    return (near->rest + ticks * near->mult) >> 32;
}

/* The words of a slot that neither times nor the offset are in, as loads that the compiler does not
 * take apart. */
#define SLOT_WORD(slot, field) dft_load64((const char *)(slot) + offsetof(struct dft_slot, field))

static inline int is_same_kind(const struct dft_slot *slot, const struct dft_slot *first)
{
    return slot->size == first->size && SLOT_WORD(slot, duration) >> 32 == SLOT_WORD(first, duration) >> 32 &&
           slot->file == first->file && slot->result == first->result && slot->region == first->region &&
           SLOT_WORD(slot, fd) == SLOT_WORD(first, fd);
}
_Static_assert(offsetof(struct dft_slot, call) == offsetof(struct dft_slot, duration) + 4 &&
                   offsetof(struct dft_slot, file) == offsetof(struct dft_slot, duration) + 8 &&
                   sizeof(struct dft_slot) == offsetof(struct dft_slot, fd) + 8,
               "every field is in one of these words");

/* How many of the `count` slots behind this one are its repeat. `event` is the slot's, `bytes`
 * moved it. Fills in `when`. (Not inlined: its loop has use for all registers.) */
static __attribute__((noinline)) uint32_t follow(const struct dft_slot *first, uint32_t count, uint32_t marker,
                                                 const struct near_clock *near, const struct dft_event *event,
                                                 uint64_t bytes, struct dft_when *when)
{
    const struct near_clock clock = *near; /* whose fields no store can change */
    const struct dft_slot *slot = first + 1;
    int64_t offset = first->offset, step = offset == -1 ? 0 : (int64_t)bytes;
    uint64_t end = event->dur_ns;
    uint32_t n = 0;

    for (; n < count; n++, slot++) {
        uint64_t from = slot->start - clock.origin, to = from + slot->duration, start;

        offset += step;
        if (atomic_load_explicit(&slot->marker, memory_order_acquire) != marker || !is_same_kind(slot, first) ||
            slot->offset != offset || from >= clock.most || to >= clock.most)
            break;
        start = near_ns(&clock, from);
        if (start < end)
            break;
        end = near_ns(&clock, to);
        when[n] = (struct dft_when){clock.origin_ns + start, end - start};
    }
    return n;
}

/* May the event be the first of a repeat? */
static inline int may_follow(const struct dft_event *event, const struct dft_meaning *meaning, uint64_t bytes)
{
    return !meaning->mode && (event->offset == -1 || (event->offset >= 0 && event->offset >> 62 == 0)) &&
           !(bytes >> 40);
}

/* --- runs ------------------------------------------------------------------------------------- */

static uint32_t decode_repeat(struct dft_batch_builder *builder, const struct dft_slot *slot,
                              const struct dft_event *event, uint32_t count, uint64_t most,
                              const struct dft_meaning *meaning)
{
    struct dft_ring_decoder *decoder = builder->decoder;
    uint32_t first = (uint32_t)(event - decoder->events), n;
    uint32_t marker = atomic_load_explicit(&slot->marker, memory_order_relaxed);
    struct near_clock near;
    uint64_t bytes;

    if (!count || !is_same_kind(slot + 1, slot))
        return 0;
    bytes = dft_event_bytes(event, dft_slot_op(slot->call));
    if (!may_follow(event, meaning, bytes) || !near_clock_init(&near, decoder->clock, most, slot->start))
        return 0;
    n = follow(slot, count, marker, &near, event, bytes, &decoder->when[first + 1]);
    if (n)
        decoder->repeats[builder->batch->nrepeats++] = (struct dft_repeat){first, n + 1};
    return n;
}

/* The first number behind those that may be of the run: there must be room, and the next lap
 * has another marker. */
static uint64_t end_of_run(const struct dft_batch_builder *builder, const struct dft_ring *ring, uint64_t sequence,
                           uint64_t end)
{
    uint64_t capacity = builder->decoder->events_max - builder->batch->count,
             lap_end = (sequence | (ring->capacity - 1)) + 1;

    if (end - sequence > capacity)
        end = sequence + capacity;
    return end < lap_end ? end : lap_end;
}

uint64_t dft_batch_builder_run(struct dft_batch_builder *builder, const struct dft_ring *ring, uint64_t sequence,
                               uint64_t end)
{
    struct dft_ring_decoder *decoder = builder->decoder;
    uint32_t lap = dft_ring_marker(ring, sequence, DFT_SLOT_VALID), call = DFT_CALL_NONE, position = 0, more;
    const uint64_t first = sequence;
    const struct dft_slot *slot = dft_ring_slot(ring, sequence);
    struct dft_event *event = &decoder->events[builder->batch->count];
    const struct dft_clock clock = *decoder->clock; /* whose fields no store to an event can change */
    const uint64_t most = decoder->repeats ? near_most(&clock) : 0;
    struct dft_meaning meaning = {0, 0};
    uint64_t subject = 0; /* the name that an annotation's call stands for */

    if (decoder->torn_ok || decoder->metric != DFT_TIME_NS)
        return sequence;
    end = end_of_run(builder, ring, sequence, end);
    for (; sequence < end; sequence += more, event += more, slot += more) {
        if (atomic_load_explicit(&slot->marker, memory_order_acquire) != lap || slot->slots != 1)
            break;
        if (slot->call != call || (subject && slot->file != subject)) {
            if (!dft_slot_is_event(slot->call))
                break;
            call = slot->call;
            subject = call >= DFT_CALL_COUNT ? slot->file : 0;
            position = dft_batch_builder_call(builder, slot);
            meaning = dft_meaning_of(dft_slot_op(call));
        }
        dft_slot_event(slot, event, meaning);
        if (subject)
            event->file = 0;
        event->start_ns = dft_clock_ns(&clock, slot->start);
        event->dur_ns = dft_clock_since(&clock, event->start_ns, slot->start + slot->duration);
        event->call = position;
        more = 1;
        if (decoder->repeats)
            more += decode_repeat(builder, slot, event, (uint32_t)(end - sequence) - 1, most, &meaning);
    }
    dft_batch_builder_mark(decoder, ring, first, sequence);
    builder->batch->count = (uint32_t)(event - decoder->events);
    return sequence;
}
