/* SPDX-License-Identifier: MIT */
/* The quick way of nearly all regions: no arguments, nested properly and not deeply, not late. What
 * it does not take, region.c does. */
#ifndef DFT_REGION_H
#define DFT_REGION_H

#include "os/clock.h"
#include "regions/record.h"

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

/* Ends the open regions of the calling thread, which ends, or its process: `what` becomes their
 * argument "ended_by". left: the program could have ended them itself. */
void dft_annotate_end_all(struct dft_thread *self, const char *what, int left);
/* Regions by the id of their name. start 0: calls are attributed to it, no event comes of it.
 * frame: of a function where its hook's frame lies, of a span its id; 0 of others. */
void dft_region_begin(struct dft_thread *self, uint64_t name, uint64_t start, uint64_t frame);
/* Ends it, and those within. Returns the number of those within, or -1: it is not open. */
int dft_region_end(struct dft_thread *self, uint64_t name, uint64_t end);
/* Closes the innermost region, if it has this name, without an event. */
void dft_region_drop(struct dft_thread *self, uint64_t name);
/* The same of a call of a library, which says more; its frame is the one it began with. */
struct dft_region_data {
    uint64_t size;  /* requested; 0: not known */
    int64_t offset; /* -1: not known */
};
/* Ends the region that was left open at this frame, and those within: a call that begins there
 * shows that it is over. */
void dft_region_end_left(struct dft_thread *self, uint64_t end, uint64_t frame);
int dft_region_end_call(struct dft_thread *self, uint64_t name, uint64_t end, uint64_t frame,
                        const struct dft_region_data *data);
/* The same of a function whose exit hook has this frame; `left`: its own is gone. */
int dft_function_end(struct dft_thread *self, uint64_t name, uint64_t end, uint64_t frame, int left);
/* Where the innermost region's arguments are, NULL: of none that is known. Those of the innermost
 * one of a name: NULL: it is not open. */
_Atomic uint32_t *dft_region_args(struct dft_thread *self);
_Atomic uint32_t *dft_region_args_of(struct dft_thread *self, uint64_t name);
/* The items from args_from on become arguments of the innermost region of that name. Returns 0, or
 * -1: it is not open. */
int dft_region_give_args(struct dft_thread *self, uint64_t name, uint32_t args_from);
/* The id of the innermost span of that name which goes on here; 0: there is none. */
uint64_t dft_region_span(struct dft_thread *self, uint64_t name);
int dft_region_leave(struct dft_thread *self, uint64_t name, uint64_t id);

#endif
