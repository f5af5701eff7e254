/* SPDX-License-Identifier: MIT */
/* Owns how an annotation becomes a record of the calling thread's ring. */
#include "regions/record.h"

#include "format/event.h"
#include "os/clock.h"
#include "ring/names.h"

uint64_t dft_annotate_site_slow(struct dft_thread *self, struct dftrace_site *site, const char *category)
{
    uint64_t id = dft_names_define(self, site->category ? site->category : category, site->name);

    __atomic_store_n(&site->id, id, __ATOMIC_RELAXED);
    return id;
}

void dft_annotate_put(struct dft_thread *self, struct dft_slot *record, uint64_t duration, const void *head,
                      uint32_t head_bytes, uint32_t args_from)
{
    uint32_t first = args_from & ~DFT_ARGS_CUT, used = self->args_used; /* a handler's are gone again */
    uint32_t args = (used & ~DFT_ARGS_CUT) - first;
    struct dft_pieces items = {.count = 0};
    uint8_t tag = DFT_ITEM_DURATION;

    record->duration = (uint32_t)duration;
    if (duration >> 32) {
        record->duration = 0;
        dft_pieces_add(&items, &tag, 1);
        dft_pieces_add(&items, &duration, 8);
    }
    if (head_bytes)
        dft_pieces_add(&items, head, head_bytes);
    if (args)
        dft_pieces_add(&items, self->home->args + first, args);
    if (used & DFT_ARGS_CUT)
        record->bits |= DFT_BIT_CUT;
    dft_ring_put_any(self, record, &items);
    self->args_used = (uint16_t)args_from;
}

uint64_t dft_annotate_put_point(struct dft_thread *self, enum dft_op op, uint64_t name, const void *head,
                                uint32_t head_bytes, uint32_t args_from)
{
    struct dft_slot record = {.start = dft_ticks(),
                              .call = (uint16_t)(DFT_CALL_ANNOTATION + op),
                              .bits = op == DFT_OP_INSTANT ? DFT_PHASE_INSTANT << DFT_SLOT_PHASE_SHIFT : 0,
                              .file = name,
                              .offset = -1,
                              .fd = -1};

    record.region = dft_region_innermost(self, &record.depth);
    dft_annotate_put(self, &record, 0, head, head_bytes, args_from);
    return record.start;
}
