/* SPDX-License-Identifier: MIT */
/* Owns the choice for records that are not plain: aggregates alone, a call stack, a vfork child. */
#include "ring/ring.h"

#include <string.h>

#include "format/event.h"
#include "ring/vfork_child.h"
#include "rows/keep.h"

/* The record of a vfork child begins with the child's identity. */
static int put_long(struct dft_thread *self, const struct dft_slot *record, const struct dft_pieces *items,
                    struct dft_burst *run)
{
    struct dft_vfork_child *child;
    struct dft_pieces signed_items;
    struct dft_vfork_item item;
    struct dft_slot copy;
    int result;

    child = dft_vfork_mark ? dft_vfork_child_sign(&item) : NULL;
    if (!child)
        return dft_append_slots(self, record, items, run);
    copy = *record;
    copy.bits |= DFT_BIT_VFORK;
    signed_items = (struct dft_pieces){.at = {&item}, .length = {sizeof item}, .count = 1};
    for (uint32_t i = 0; i < items->count; i++)
        dft_pieces_add(&signed_items, items->at[i], items->length[i]);
    result = dft_append_slots(self, &copy, &signed_items, run);
    child->process.events += !result;
    return result;
}

/* The record's duration in ticks. For a long duration any large value is enough. */
static uint64_t duration_of(const struct dft_slot *record, const struct dft_pieces *items)
{
    for (uint32_t i = 0; i < items->count; i++)
        if (items->length[i] % 8 == 1 && *(const uint8_t *)items->at[i] == DFT_ITEM_DURATION)
            return UINT32_MAX; /* the piece begins with a tag; a value alone has eight bytes */
    return record->duration;
}

void dft_ring_put_long(struct dft_thread *self, const struct dft_slot *record, const struct dft_pieces *items)
{
    struct dft_pieces with_stack;
    uint8_t item[9] = {DFT_ITEM_STACK};
    uint64_t stack = 0;

    if (self->mode && dft_mode_keeps_long(self, record, items))
        return;
    if (dft_stack_depth)
        stack = dft_stack_capture(self, duration_of(record, items));
    if (stack) {
        memcpy(item + 1, &stack, 8);
        with_stack = (struct dft_pieces){.at = {item}, .length = {sizeof item}, .count = 1};
        for (uint32_t i = 0; i < items->count; i++)
            dft_pieces_add(&with_stack, items->at[i], items->length[i]);
        items = &with_stack;
    }
    put_long(self, record, items, NULL);
}

int dft_ring_put_elsewhere(struct dft_thread *self, const struct dft_slot *record)
{
    if (self->mode && dft_mode_keeps(self, record))
        return 1;
    if (!dft_stack_depth)
        return 0;
    dft_ring_put_long(self, record, &(const struct dft_pieces){.count = 0});
    return 1;
}

void dft_ring_put_run(struct dft_thread *self, const struct dft_burst *run, struct dft_burst *open)
{
    uint8_t tags[3] = {DFT_ITEM_CALLS, DFT_ITEM_SIZE, DFT_ITEM_DURATION};
    struct dft_pieces items = {.count = 0};
    uint32_t calls = dft_burst_calls(run);
    uint64_t bytes = dft_burst_bytes(run);
    struct dft_slot record = {
        .start = run->start,
        .duration = run->duration >> 32 ? 0 : (uint32_t)run->duration,
        .call = (uint16_t)(atomic_load_explicit(&run->call, memory_order_relaxed) | dft_slot_marks(run->io, run->bits)),
        .bits = run->bits & ~DFT_BIT_TURN,
        .size = (uint32_t)bytes,
        .file = run->file,
        .result = (int64_t)bytes,
        .offset = run->offset,
        .region = run->region,
        .fd = run->fd,
        .depth = run->depth};

    if (self->mode && dft_mode_keeps_burst(self, &record, run, open))
        return;
    if (calls != 1) {
        dft_pieces_add(&items, &tags[0], 1);
        dft_pieces_add(&items, &calls, 4);
    }
    if (bytes >> 32) {
        dft_pieces_add(&items, &tags[1], 1);
        dft_pieces_add(&items, &bytes, 8);
    }
    if (run->duration >> 32) {
        dft_pieces_add(&items, &tags[2], 1);
        dft_pieces_add(&items, &run->duration, 8);
    }
    put_long(self, &record, &items, open);
}
