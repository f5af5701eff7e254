/* SPDX-License-Identifier: MIT */
/* Records of a ring become events: used by the drain in the traced process and, on what a dead
 * process left, by the tools. */
#include "format/ring_decode.h"

#include <string.h>

#include "items.h"
#include "ring_record.h"

/* The owner is the ring's process, or a vfork child, which says so first. A name has no owner of its own: it gets that
 * of the batch. */
static struct dft_record_owner owner_of(const struct dft_batch_builder *builder, const struct dft_ring *ring,
                                        uint64_t sequence, const struct dft_slot *slot)
{
    struct dft_item_list items = {.ring = ring, .sequence = sequence, .left = 1};
    struct dft_record_owner owner = {builder->decoder->key, ring->tid}, child;
    uint8_t tag;

    if (dft_slot_number(slot->call) == DFT_CALL_NAME)
        return (struct dft_record_owner){builder->batch->key, builder->batch->tid};
    if (slot->bits & DFT_BIT_VFORK && slot->slots > 1 && dft_items_get(&items, &tag, 1) && tag == DFT_ITEM_CHILD &&
        dft_items_get(&items, &child, sizeof child) == sizeof child)
        return child;
    return owner;
}

static int is_whole(const struct dft_ring *ring, uint64_t sequence, const struct dft_slot *slot)
{
    if (slot->slots < 1 || slot->slots > DFT_RECORD_SLOTS_MAX || slot->slots > ring->capacity)
        return 0;
    for (uint32_t i = 1; i < slot->slots; i++)
        if (atomic_load_explicit(&dft_ring_slot(ring, sequence + i)->marker, memory_order_acquire) !=
            dft_ring_marker(ring, sequence + i, DFT_SLOT_PART))
            return 0;
    return 1;
}

static int has_room(const struct dft_batch_builder *builder, const struct dft_slot *slot)
{
    const struct dft_ring_decoder *decoder = builder->decoder;
    const struct dft_batch *batch = builder->batch;

    return batch->count < decoder->events_max && decoder->ncalls < decoder->events_max &&
           batch->nnames < decoder->names_max &&
           batch->nargs + slot->slots * (DFT_PART_BYTES / 17 + 1) <= decoder->args_max &&
           decoder->text_max - builder->text_used >= slot->slots * DFT_PART_BYTES;
}

static int was_taken(const struct dft_ring_decoder *decoder, const struct dft_ring *ring, uint64_t sequence)
{
    uint32_t index = (uint32_t)sequence & (ring->capacity - 1);

    return decoder->taken[index / 64] >> index % 64 & 1;
}

static void begin_batch(struct dft_batch_builder *builder, const struct dft_ring *ring, uint64_t first)
{
    struct dft_ring_decoder *decoder = builder->decoder;

    if (!decoder->sink)
        dft_ring_decoder_forget(decoder);
    *builder->batch = (struct dft_batch){.key = decoder->key,
                                         .stream = ring->stream,
                                         .tid = ring->tid,
                                         .first = first,
                                         .last = first - 1,
                                         .events = decoder->events,
                                         .calls = decoder->calls,
                                         .names = decoder->names,
                                         .args = decoder->args};
}

enum step { STEP_ON, STEP_END };

static int covers_something(const struct dft_batch *batch)
{
    return batch->last + 1 != batch->first;
}

/* A number that no batch covers. */
static enum step leave_out(struct dft_batch_builder *builder, uint64_t *sequence)
{
    (*sequence)++;
    if (covers_something(builder->batch))
        return STEP_END;
    builder->batch->first = *sequence;
    builder->batch->last = *sequence - 1;
    return STEP_ON;
}

/* A number at which nothing can be taken: on the one hand pending, on the other never used. */
static enum step pass_over(struct dft_batch_builder *builder, uint64_t *sequence, int pending)
{
    if (pending && !builder->decoder->torn_ok)
        return leave_out(builder, sequence);
    (*sequence)++;
    if (!builder->decoder->torn_ok)
        builder->batch->last = *sequence - 1;
    return STEP_ON;
}

static enum step take_at(struct dft_batch_builder *builder, const struct dft_ring *ring, uint64_t *sequence,
                         uint64_t number, const struct dft_slot *slot)
{
    struct dft_ring_decoder *decoder = builder->decoder;
    struct dft_batch *batch = builder->batch;
    int old = number != *sequence;
    struct dft_record_owner owner;

    if (was_taken(decoder, ring, number))
        return pass_over(builder, sequence, 0);
    if (!is_whole(ring, number, slot)) {
        decoder->torn += decoder->torn_ok ? 1 : 0;
        return pass_over(builder, sequence, 1);
    }
    owner = owner_of(builder, ring, number, slot);
    if (decoder->covered && decoder->covered(decoder->context, owner.key, ring->stream, number)) {
        (*sequence)++;
        return covers_something(batch) ? STEP_END : STEP_ON;
    }
    if ((old || decoder->torn_ok) && !covers_something(batch))
        batch->first = number;
    else if (old)
        return STEP_END;
    if (owner.key != batch->key && covers_something(batch))
        return STEP_END;
    batch->key = owner.key;
    batch->tid = owner.pid;
    if (!has_room(builder, slot) ||
        (dft_goes_to_sink(builder) && !decoder->sink->is_ready(decoder->sink->context, batch)))
        return STEP_END;
    if (dft_take_record(builder, ring, number, slot))
        decoder->torn++;
    batch->last = number + slot->slots - 1;
    *sequence += old ? 1 : slot->slots;
    return old ? STEP_END : STEP_ON;
}

/* The definition of a name as it mostly is, its text in order. Returns 0, or -1: it is another
 * one. */
static int take_common_name(struct dft_batch_builder *builder, const struct dft_slot *slot)
{
    const struct dft_slot_part *part = (const struct dft_slot_part *)(slot + 1);
    char *text = builder->decoder->text + builder->text_used;
    const uint32_t first = DFT_PART_BYTES - 5;
    uint32_t length;

    memcpy(&length, part->payload + 1, 4);
    if (part->payload[0] != DFT_ITEM_TEXT || length > (slot->slots - 1) * DFT_PART_BYTES - 5)
        return -1;
    memcpy(text, part->payload + 5, first);
    for (uint32_t done = first; done < length; done += DFT_PART_BYTES)
        memcpy(text + done, (++part)->payload, DFT_PART_BYTES); /* there is room for whole parts */
    builder->decoder->names[builder->batch->nnames++] =
        (struct dft_name){.id = slot->file, .text = {text, length}, .cut = slot->bits & DFT_BIT_CUT ? 1 : 0};
    builder->text_used += length;
    return 0;
}

/* A record of several slots as it mostly is: whole, of this lap, the process's own. Returns the
 * number behind it, or `sequence`: what is there is something else. */
static uint64_t take_long(struct dft_batch_builder *builder, const struct dft_ring *ring, uint64_t sequence,
                          uint64_t end)
{
    const struct dft_slot *slot = dft_ring_slot(ring, sequence);
    const struct dft_ring_sink *sink = builder->decoder->sink;

    if (slot->slots < 2 || end - sequence < slot->slots || slot->bits & DFT_BIT_VFORK ||
        atomic_load_explicit(&slot->marker, memory_order_acquire) != dft_ring_marker(ring, sequence, DFT_SLOT_VALID) ||
        !is_whole(ring, sequence, slot) || !has_room(builder, slot))
        return sequence;
    if (dft_slot_number(slot->call) == DFT_CALL_NAME)
        return take_common_name(builder, slot) ? sequence : sequence + slot->slots;
    if (!sink->is_ready(sink->context, builder->batch) || dft_take_record(builder, ring, sequence, slot))
        return sequence;
    return sequence + slot->slots;
}

/* Records of one slot, of this lap, the process's own, into a batch. Returns where they end. */
static uint64_t take_short(struct dft_batch_builder *builder, const struct dft_ring *ring, uint64_t sequence,
                           uint64_t end)
{
    const struct dft_ring_decoder *decoder = builder->decoder;
    uint32_t lap = dft_ring_marker(ring, sequence, DFT_SLOT_VALID);
    uint64_t at = sequence;

    if (decoder->torn_ok || decoder->covered || builder->batch->key != decoder->key)
        return sequence;
    for (; at < end; at++) {
        const struct dft_slot *slot = dft_ring_slot(ring, at);

        if (atomic_load_explicit(&slot->marker, memory_order_acquire) != lap || slot->slots != 1 ||
            dft_slot_number(slot->call) == DFT_CALL_NAME || slot->bits & DFT_BIT_VFORK ||
            decoder->ncalls == decoder->events_max || dft_take_short_event(builder, slot))
            break;
    }
    dft_ring_decoder_mark(decoder, ring, sequence, at);
    return at;
}

/* Common records, which go to the sink if there is one. Returns where they end. */
static uint64_t take_run(struct dft_batch_builder *builder, const struct dft_ring *ring, uint64_t sequence,
                         uint64_t end)
{
    const struct dft_ring_decoder *decoder = builder->decoder;
    struct dft_batch *batch = builder->batch;
    uint64_t lap_end = (sequence | (ring->capacity - 1)) + 1, at = sequence, from;
    uint64_t capacity = decoder->events_max - batch->count;

    end = end < lap_end ? end : lap_end;
    end = end - sequence < capacity ? end : sequence + capacity; /* a record has an event at most */
    if (!dft_goes_to_sink(builder))
        return take_short(builder, ring, sequence, end);
    do {
        from = at;
        at = decoder->sink->run(decoder->sink->context, batch, ring, at, end);
        batch->count += (uint32_t)(at - from);
        if (at < end)
            at = take_long(builder, ring, at, end);
    } while (at > from && at < end);
    dft_ring_decoder_mark(decoder, ring, sequence, at);
    return at;
}

void dft_ring_decode(const struct dft_ring *ring, uint64_t *sequence, uint64_t end, struct dft_ring_decoder *decoder,
                     struct dft_batch *batch)
{
    struct dft_batch_builder builder = {.decoder = decoder, .batch = batch};
    enum step step = STEP_ON;

    if (!decoder->torn_ok)
        *sequence = dft_ring_find_used(ring, *sequence, end);
    begin_batch(&builder, ring, *sequence);
    while (step == STEP_ON && *sequence < end) {
        const struct dft_slot *slot;
        uint64_t run = take_run(&builder, ring, *sequence, end);
        uint32_t marker;
        int this_lap;

        if (run > *sequence) {
            *sequence = run;
            batch->last = run - 1;
            continue;
        }
        slot = dft_ring_slot(ring, *sequence);
        marker = atomic_load_explicit(&slot->marker, memory_order_acquire);
        this_lap = dft_slot_laps_ahead(marker, (uint32_t)(*sequence >> ring->shift)) == 0;
        if (dft_ring_is_ahead(ring, *sequence, marker)) {
            step = leave_out(&builder, sequence);
        } else if (dft_slot_state(marker) == DFT_SLOT_VALID) {
            step = take_at(&builder, ring, sequence, dft_ring_sequence(ring, *sequence, marker), slot);
        } else {
            decoder->torn += decoder->torn_ok && dft_slot_state(marker) == DFT_SLOT_BUSY;
            step = pass_over(&builder, sequence, dft_slot_state(marker) == DFT_SLOT_FREE || this_lap);
        }
    }
    batch->ncalls = decoder->ncalls;
    if (atomic_load_explicit(&((struct dft_ring *)(uintptr_t)ring)->paused, memory_order_relaxed))
        batch->count = batch->nargs = 0;
}
