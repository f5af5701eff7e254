/* SPDX-License-Identifier: MIT */
/* The quick way of nearly all regions: no arguments, nested properly and not deeply, not late. What
 * it does not take, region.c does. */
#ifndef DFT_REGION_H
#define DFT_REGION_H

#include "os/clock.h"
#include "regions/annotate.h"

/* Returns 0 when nothing was done. */
static inline int dft_region_begin_quick(struct dft_thread *self, uint64_t name)
{
    struct dft_ring *home = self->home;
    uint32_t depth = atomic_load_explicit(&home->depth, memory_order_relaxed);
    const uint32_t used = self->args_used, args = used | used << 16;
    struct dft_open_region region = {name, 0};

    if (__builtin_expect(depth >= DFT_OPEN_REGIONS || used & DFT_ARGS_CUT, 0))
        return 0;
    region.start = dft_ticks();
    home->regions[depth] = region;
    self->frames[depth] = 0;
    atomic_store_explicit(&home->region_args[depth], args, memory_order_relaxed);
    atomic_store_explicit(&home->depth, depth + 1, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    home->regions[depth] = region; /* a handler's region may have stood there before the depth was ours */
    self->frames[depth] = 0;
    atomic_store_explicit(&home->region_args[depth], args, memory_order_relaxed);
    return 1;
}

static inline int dft_region_end_quick(struct dft_thread *self, uint64_t name, uint64_t end)
{
    struct dft_ring *home = self->home;
    uint32_t index = atomic_load_explicit(&home->depth, memory_order_relaxed) - 1;
    struct dft_open_region region;
    uint64_t duration;

    if (__builtin_expect(index >= DFT_OPEN_REGIONS || dft_vfork_mark, 0))
        return 0;
    region = home->regions[index];
    duration = dft_ticks_between(region.start, end);
    if (__builtin_expect(region.name != name || !region.start || duration >> 32 ||
                             atomic_load_explicit(&home->region_args[index], memory_order_relaxed) !=
                                 self->args_used * 0x10001u ||
                             *(volatile int *)&dft_late,
                         0))
        return 0;
    {
        const struct dft_slot record = {.start = region.start,
                                        .duration = (uint32_t)duration,
                                        .call = DFT_CALL_ANNOTATION + DFT_OP_REGION,
                                        .file = name,
                                        .offset = -1,
                                        .region = index ? home->regions[index - 1].name : 0,
                                        .fd = -1,
                                        .depth = (uint16_t)index};

        atomic_store_explicit(&home->depth, index, memory_order_release);
        atomic_signal_fence(memory_order_seq_cst);
        /* The finaliser has seen the depth, or this thread sees that it is late: then who claims
         * the name has it. */
        if (__builtin_expect(*(volatile int *)&dft_late, 0) && !dft_region_claim(&home->regions[index]))
            return 1;
        dft_ring_put(self, &record);
    }
    return 1;
}

#endif
