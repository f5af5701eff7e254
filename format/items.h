/* SPDX-License-Identifier: MIT */
/* Reading the items of a long record: a run of bytes over the payloads of its parts. */
#ifndef DFT_ITEMS_H
#define DFT_ITEMS_H

#include "format/live_format.h"

struct dft_item_list {
    const struct dft_ring *ring;
    uint64_t sequence; /* of the part */
    uint32_t at, used; /* within the part */
    uint32_t left;     /* parts behind this one */
};

/* Copies `length` bytes of the items to `out`; returns how many there were. */
uint32_t dft_items_get_slow(struct dft_item_list *items, void *out, uint32_t length);

static inline uint32_t dft_items_get(struct dft_item_list *items, void *out, uint32_t length)
{
    const struct dft_slot_part *part = (const struct dft_slot_part *)dft_ring_slot(items->ring, items->sequence);

    if (items->used - items->at < length)
        return dft_items_get_slow(items, out, length);
    for (uint32_t i = 0; i < length; i++)
        ((uint8_t *)out)[i] = part->payload[items->at + i];
    items->at += length;
    return length;
}

#endif
