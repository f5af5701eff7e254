/* SPDX-License-Identifier: MIT */
/* Reads the items of long records. */
#include "items.h"

#include <string.h>

static int next_part(struct dft_item_list *items)
{
    const struct dft_slot_part *part;

    if (!items->left)
        return 0;
    items->left--;
    items->sequence++;
    part = (const struct dft_slot_part *)dft_ring_slot(items->ring, items->sequence);
    items->at = 0;
    items->used = part->used <= DFT_PART_BYTES ? part->used : DFT_PART_BYTES;
    return 1;
}

uint32_t dft_items_get_slow(struct dft_item_list *items, void *out, uint32_t length)
{
    uint32_t done = 0;

    while (done < length) {
        const struct dft_slot_part *part;
        uint32_t n;

        if (items->at == items->used) {
            if (!next_part(items))
                break;
            continue;
        }
        part = (const struct dft_slot_part *)dft_ring_slot(items->ring, items->sequence);
        n = items->used - items->at < length - done ? items->used - items->at : length - done;
        memcpy((char *)out + done, part->payload + items->at, n);
        items->at += n;
        done += n;
    }
    return done;
}
