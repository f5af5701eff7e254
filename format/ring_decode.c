/* SPDX-License-Identifier: MIT */
/* Records of a ring become events: used by the drain in the traced process and, on what a dead
 * process left, by the tools. */
#include "format/ring_decode.h"

#include <string.h>

#include "format/calls.h"
#include "items.h"
#include "resolution.h"
#include "format/slot_event.h"

/* A batch that is being filled. */
struct batch_builder {
    struct dft_ring_decoder *decoder;
    struct dft_batch *batch;
    uint32_t text_used;
    uint64_t previous_end; /* for DFT_TIME_REL */
};

/* Text of the given length into the scratch. Returns 0, or -1: the record ends early or there is no
 * room. */
static int items_get_text(struct dft_item_list *items, struct dft_ring_decoder *decoder, uint32_t *used,
                          uint32_t length, struct dft_text *text)
{
    if (length > decoder->text_max - *used)
        return -1;
    text->bytes = decoder->text + *used;
    text->length = length;
    if (dft_items_get(items, decoder->text + *used, length) != length)
        return -1;
    *used += length;
    return 0;
}

static int get_arg(struct batch_builder *builder, struct dft_item_list *items, uint8_t tag)
{
    struct dft_batch *batch = builder->batch;
    struct dft_arg *arg = &builder->decoder->args[batch->nargs];
    uint32_t length;

    if (batch->nargs == builder->decoder->args_max || dft_items_get(items, &arg->key, 8) != 8)
        return -1;
    arg->event = batch->count;
    if (tag == DFT_ITEM_ARG_STRING) {
        arg->type = DFT_ARG_STRING;
        if (dft_items_get(items, &length, 4) != 4 ||
            items_get_text(items, builder->decoder, &builder->text_used, length, &arg->s))
            return -1;
    } else {
        arg->type = tag == DFT_ITEM_ARG_INT ? DFT_ARG_INT : DFT_ARG_DOUBLE;
        if (dft_items_get(items, &arg->i, 8) != 8)
            return -1;
    }
    batch->nargs++;
    return 0;
}

/* The process whose record it is. */
struct owner {
    uint64_t key;
    uint32_t pid;
} __attribute__((packed));

/* Of the ring's process, or of a vfork child, which says so first. A name is anybody's: that of the
 * batch. */
static struct owner owner_of(const struct batch_builder *builder, const struct dft_ring *ring, uint64_t sequence,
                             const struct dft_slot *slot)
{
    struct dft_item_list items = {.ring = ring, .sequence = sequence, .left = 1};
    struct owner owner = {builder->decoder->key, ring->tid}, child;
    uint8_t tag;

    if (slot->call == DFT_CALL_NAME)
        return (struct owner){builder->batch->key, builder->batch->tid};
    if (slot->bits & DFT_BIT_VFORK && slot->slots > 1 && dft_items_get(&items, &tag, 1) && tag == DFT_ITEM_CHILD &&
        dft_items_get(&items, &child, sizeof child) == sizeof child)
        return child;
    return owner;
}

/* The items of an event's parts. Returns 0, or -1: they make no sense. */
static int get_items(struct batch_builder *builder, struct dft_item_list *items, struct dft_event *event,
                     uint64_t *duration)
{
    struct owner owner; /* the batch has it */
    uint8_t tag;

    while (dft_items_get(items, &tag, 1)) {
        uint32_t n = 0;
        void *to = NULL;

        switch (tag) {
        case DFT_ITEM_DURATION:
            to = duration, n = 8;
            break;
        case DFT_ITEM_SIZE:
            to = &event->size, n = 8;
            break;
        case DFT_ITEM_FLAGS:
            to = &event->flags, n = 4;
            break;
        case DFT_ITEM_MODE:
            to = &event->mode, n = 4;
            break;
        case DFT_ITEM_FILE2:
            to = &event->file2, n = 8;
            break;
        case DFT_ITEM_UNIT:
            to = &event->unit, n = 4;
            break;
        case DFT_ITEM_CALLS:
            to = &event->calls, n = 4;
            break;
        case DFT_ITEM_PHASE:
            to = &event->phase, n = 1;
            break;
        case DFT_ITEM_STACK:
            to = &event->stack, n = 8;
            break;
        case DFT_ITEM_ID:
            to = &event->id, n = 8;
            break;
        case DFT_ITEM_CHILD:
            to = &owner, n = sizeof owner;
            break;
        default:
            if (tag < DFT_ITEM_ARG_INT || tag > DFT_ITEM_ARG_STRING || get_arg(builder, items, tag))
                return -1;
            continue;
        }
        if (dft_items_get(items, to, n) != n)
            return -1;
    }
    return 0;
}

static void get_times(struct batch_builder *builder, const struct dft_slot *slot, uint64_t duration,
                      struct dft_event *event)
{
    const struct dft_clock *clock = builder->decoder->clock;

    event->start_ns = dft_clock_ns(clock, slot->start);
    event->dur_ns = dft_clock_since(clock, event->start_ns, slot->start + duration);
    if (builder->decoder->metric != DFT_TIME_NS)
        dft_resolution_keep(builder->decoder->metric, &builder->previous_end, event);
}

static int goes_to_sink(const struct batch_builder *builder)
{
    return builder->decoder->sink && builder->batch->key == builder->decoder->key;
}

static int take_event(struct batch_builder *builder, const struct dft_slot *slot, struct dft_item_list *items)
{
    struct dft_batch *batch = builder->batch;
    int sunk = goes_to_sink(builder);
    struct dft_event *event = &builder->decoder->events[sunk ? 0 : batch->count];
    uint32_t nargs = batch->nargs, text_used = builder->text_used;
    uint64_t duration = slot->duration;
    int annotation = slot->call >= DFT_CALL_COUNT;
    uint8_t op;

    if (slot->call == DFT_CALL_NONE ||
        (annotation && (slot->call < DFT_CALL_ANNOTATION || slot->call >= DFT_CALL_ANNOTATION + DFT_OP_COUNT)))
        return -1;
    op = annotation ? (uint8_t)(slot->call - DFT_CALL_ANNOTATION) : dft_call_rows[slot->call].op;
    dft_slot_event(slot, event, dft_meaning_of(op));
    if (annotation)
        dft_slot_annotation(event, op);
    if (slot->slots > 1 && get_items(builder, items, event, &duration)) {
        batch->nargs = nargs;
        builder->text_used = text_used;
        return -1;
    }
    get_times(builder, slot, duration, event);
    event->call = dft_ring_decoder_call(builder->decoder, slot);
    if (sunk)
        builder->decoder->sink->put(builder->decoder->sink->context, event);
    batch->count++;
    return 0;
}

static int take_name(struct batch_builder *builder, const struct dft_slot *slot, struct dft_item_list *items)
{
    struct dft_batch *batch = builder->batch;
    struct dft_name *name = &builder->decoder->names[batch->nnames];
    uint32_t length;
    uint8_t tag;

    if (!dft_items_get(items, &tag, 1) || tag != DFT_ITEM_TEXT || dft_items_get(items, &length, 4) != 4)
        return -1;
    name->id = slot->file;
    name->cut = slot->bits & DFT_BIT_CUT ? 1 : 0;
    if (length > DFT_TEXT_MAX || items_get_text(items, builder->decoder, &builder->text_used, length, &name->text))
        return -1;
    batch->nnames++;
    return 0;
}

/* One whole record at a sequence number. Returns 0, or -1: it makes no sense. */
static int take_record(struct batch_builder *builder, const struct dft_ring *ring, uint64_t sequence,
                       const struct dft_slot *slot)
{
    struct dft_item_list items = {.ring = ring, .sequence = sequence, .left = slot->slots - 1u};

    dft_ring_decoder_mark(builder->decoder, ring, sequence, sequence + slot->slots);
    return slot->call == DFT_CALL_NAME ? take_name(builder, slot, &items) : take_event(builder, slot, &items);
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

static int has_room(const struct batch_builder *builder, const struct dft_slot *slot)
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

static void begin_batch(struct batch_builder *builder, const struct dft_ring *ring, uint64_t first)
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

/* A number at which nothing can be taken: on the one hand pending, on the other never used. */
static enum step pass_over(struct batch_builder *builder, uint64_t *sequence, int pending)
{
    (*sequence)++;
    if (pending && !builder->decoder->torn_ok) {
        if (covers_something(builder->batch))
            return STEP_END;
        builder->batch->first = *sequence;
        builder->batch->last = *sequence - 1;
    } else if (!builder->decoder->torn_ok) {
        builder->batch->last = *sequence - 1;
    }
    return STEP_ON;
}

static enum step take_at(struct batch_builder *builder, const struct dft_ring *ring, uint64_t *sequence,
                         uint64_t number, const struct dft_slot *slot)
{
    struct dft_ring_decoder *decoder = builder->decoder;
    struct dft_batch *batch = builder->batch;
    int old = number != *sequence;
    struct owner owner;

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
    if (!has_room(builder, slot) || (goes_to_sink(builder) && !decoder->sink->is_ready(decoder->sink->context, batch)))
        return STEP_END;
    if (take_record(builder, ring, number, slot))
        decoder->torn++;
    batch->last = number + slot->slots - 1;
    *sequence += old ? 1 : slot->slots;
    return old ? STEP_END : STEP_ON;
}

/* The definition of a name as it mostly is: whole, of this lap, its text in order. Returns the number
 * behind it, or `sequence`: what is there is something else. */
static uint64_t take_common_name(struct batch_builder *builder, const struct dft_ring *ring, uint64_t sequence,
                                 uint64_t end)
{
    const struct dft_slot *slot = dft_ring_slot(ring, sequence);
    const struct dft_slot_part *part = (const struct dft_slot_part *)(slot + 1);
    char *text = builder->decoder->text + builder->text_used;
    uint32_t length, first = DFT_PART_BYTES - 5;

    if (slot->call != DFT_CALL_NAME || slot->slots < 2 || end - sequence < slot->slots ||
        atomic_load_explicit(&slot->marker, memory_order_acquire) != dft_ring_marker(ring, sequence, DFT_SLOT_VALID) ||
        !is_whole(ring, sequence, slot) || !has_room(builder, slot))
        return sequence;
    memcpy(&length, part->payload + 1, 4);
    if (part->payload[0] != DFT_ITEM_TEXT || length + 5 > (slot->slots - 1) * DFT_PART_BYTES)
        return sequence;
    memcpy(text, part->payload + 5, DFT_PART_BYTES - 5);
    for (uint32_t done = first; done < length; done += DFT_PART_BYTES)
        memcpy(text + done, (++part)->payload, DFT_PART_BYTES); /* there is room for whole parts */
    builder->decoder->names[builder->batch->nnames++] =
        (struct dft_name){.id = slot->file, .text = {text, length}, .cut = slot->bits & DFT_BIT_CUT ? 1 : 0};
    builder->text_used += length;
    return sequence + slot->slots;
}

/* Common records go to the sink at once. Returns where they end. */
static uint64_t take_run(struct batch_builder *builder, const struct dft_ring *ring, uint64_t sequence, uint64_t end)
{
    const struct dft_ring_decoder *decoder = builder->decoder;
    struct dft_batch *batch = builder->batch;
    uint64_t lap_end = (sequence | (ring->capacity - 1)) + 1, at = sequence, from;

    if (!goes_to_sink(builder))
        return sequence;
    end = end < lap_end ? end : lap_end;
    do {
        uint64_t capacity = decoder->events_max - batch->count;

        from = at;
        at = decoder->sink->run(decoder->sink->context, batch, ring, at, end - at < capacity ? end : at + capacity);
        batch->count += (uint32_t)(at - from);
        if (at < end)
            at = take_common_name(builder, ring, at, end);
    } while (at > from && at < end);
    dft_ring_decoder_mark(decoder, ring, sequence, at);
    return at;
}

void dft_ring_decode(const struct dft_ring *ring, uint64_t *sequence, uint64_t end, struct dft_ring_decoder *decoder,
                     struct dft_batch *batch)
{
    struct batch_builder builder = {.decoder = decoder, .batch = batch};
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
        if (decoder->torn_ok && dft_ring_is_ahead(ring, *sequence, marker)) {
            (*sequence)++;
            step = covers_something(batch) ? STEP_END : STEP_ON;
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
