/* SPDX-License-Identifier: MIT */
/* A record of a ring as an event or a name: its first slot, and the items of the others. */
#include "ring_record.h"

#include <string.h>

#include "format/calls.h"
#include "format/slot_event.h"
#include "items.h"
#include "resolution.h"

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

static int get_arg(struct dft_batch_builder *builder, struct dft_item_list *items, uint8_t tag)
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

/* The items of an event's parts. Returns 0, or -1: they make no sense. */
static int get_items(struct dft_batch_builder *builder, struct dft_item_list *items, struct dft_event *event,
                     uint64_t *duration)
{
    struct dft_record_owner owner; /* the batch has it */
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

static void get_times(struct dft_batch_builder *builder, const struct dft_slot *slot, uint64_t duration,
                      struct dft_event *event)
{
    const struct dft_clock *clock = builder->decoder->clock;

    event->start_ns = dft_clock_ns(clock, slot->start);
    event->dur_ns = dft_clock_since(clock, event->start_ns, slot->start + duration);
    if (builder->decoder->metric != DFT_TIME_NS)
        dft_resolution_keep(builder->decoder->metric, &builder->previous_end, event);
}

static int take_event(struct dft_batch_builder *builder, const struct dft_slot *slot, struct dft_item_list *items)
{
    struct dft_batch *batch = builder->batch;
    int sunk = dft_goes_to_sink(builder);
    struct dft_event *event = &builder->decoder->events[sunk ? 0 : batch->count];
    uint32_t nargs = batch->nargs, text_used = builder->text_used;
    uint64_t duration = slot->duration;
    uint32_t number = dft_slot_number(slot->call);
    int annotation = number >= DFT_CALL_COUNT;
    uint8_t op;

    if (!dft_slot_is_event(number))
        return -1;
    op = dft_slot_op(number);
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

int dft_take_short_event(struct dft_batch_builder *builder, const struct dft_slot *slot)
{
    return take_event(builder, slot, NULL);
}

static int take_name(struct dft_batch_builder *builder, const struct dft_slot *slot, struct dft_item_list *items)
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

int dft_take_record(struct dft_batch_builder *builder, const struct dft_ring *ring, uint64_t sequence,
                    const struct dft_slot *slot)
{
    struct dft_item_list items = {.ring = ring, .sequence = sequence, .left = slot->slots - 1u};

    dft_ring_decoder_mark(builder->decoder, ring, sequence, sequence + slot->slots);
    return dft_slot_number(slot->call) == DFT_CALL_NAME ? take_name(builder, slot, &items)
                                                        : take_event(builder, slot, &items);
}
