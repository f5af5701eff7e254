/* SPDX-License-Identifier: MIT */
/* Owns the open regions of threads. The outermost DFT_OPEN_REGIONS stand in the live file, so that
 * a killed process's are known; those deeper in private memory, which a thread maps when it first
 * needs it. */
#include <string.h>

#include "regions/annotate.h"
#include "os/clock.h"

/* The first time a thread is in so deep. A handler may have been quicker. */
static __attribute__((noinline)) struct dft_deep_region *map_deep(struct dft_thread *self)
{
    struct dft_deep_region *none = NULL, *deep = dft_sys_reserve(DFT_DEEP_REGIONS * sizeof *deep);

    if (deep && !__atomic_compare_exchange_n(&self->deep, &none, deep, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        DFT_SYS(munmap, deep, DFT_DEEP_REGIONS * sizeof *deep, 0, 0, 0, 0);
    return self->deep;
}

static struct dft_open_region *region_at(struct dft_thread *self, uint32_t index)
{
    return __builtin_expect(index < DFT_OPEN_REGIONS, 1) ? &self->home->regions[index]
                                                         : &self->deep[index - DFT_OPEN_REGIONS].region;
}

static uint64_t *frame_of(struct dft_thread *self, uint32_t index)
{
    return __builtin_expect(index < DFT_OPEN_REGIONS, 1) ? &self->frames[index]
                                                         : &self->deep[index - DFT_OPEN_REGIONS].frame;
}

static _Atomic uint32_t *args_of(struct dft_thread *self, uint32_t index)
{
    return __builtin_expect(index < DFT_OPEN_REGIONS, 1) ? &self->home->region_args[index]
                                                         : &self->deep[index - DFT_OPEN_REGIONS].args;
}

_Atomic uint32_t *dft_region_args(struct dft_thread *self)
{
    uint32_t depth = atomic_load_explicit(&self->home->depth, memory_order_relaxed);

    return depth == 0 || depth > (self->deep ? DFT_REGIONS_MAX : DFT_OPEN_REGIONS) ? NULL : args_of(self, depth - 1);
}

void dft_region_begin(struct dft_thread *self, uint64_t name, uint64_t start, uint64_t frame)
{
    const struct dft_open_region region = {name, start};
    const uint32_t used = self->args_used, args = used | (used & ~DFT_ARGS_CUT) << 16;
    uint32_t depth = atomic_load_explicit(&self->home->depth, memory_order_relaxed);

    if (__builtin_expect(depth >= DFT_OPEN_REGIONS, 0) &&
        (depth >= DFT_REGIONS_MAX || (!self->deep && !map_deep(self)))) {
        atomic_store_explicit(&self->home->depth, depth + 1, memory_order_release);
        return;
    }
    atomic_thread_fence(memory_order_release); /* the place's last region was over before */
    *region_at(self, depth) = region;
    *frame_of(self, depth) = frame;
    atomic_store_explicit(args_of(self, depth), args, memory_order_relaxed);
    atomic_store_explicit(&self->home->depth, depth + 1, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    *region_at(self, depth) = region; /* a handler's region may have stood there before the depth was ours */
    *frame_of(self, depth) = frame;
    atomic_store_explicit(args_of(self, depth), args, memory_order_relaxed);
    dft_args_begin(self);
}

/* The region is this thread's to record, unless the end of the process came first. Late, whoever
 * claims its name has it; before that the finaliser sees the new depth, or this thread that it is
 * late. Regions deep within are not known to it. */
static int leave_region(struct dft_thread *self, uint32_t index)
{
    struct dft_open_region *region = region_at(self, index);
    int late = *(volatile int *)&dft_late && index < DFT_OPEN_REGIONS;
    uint64_t name = late ? dft_region_claim(region) : 0;

    atomic_store_explicit(&self->home->depth, index, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    if (!late && __builtin_expect(*(volatile int *)&dft_late, 0) && index < DFT_OPEN_REGIONS) {
        name = dft_region_claim(region);
        late = 1;
    }
    return !late || name;
}

/* The end of the process has the region, and perhaps reads its arguments now: they are not to be
 * others' before it can see that. */
static void leave_args(struct dft_thread *self, uint32_t index)
{
    atomic_store_explicit(args_of(self, index), 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
}

static uint32_t items_from(struct dft_thread *self, uint32_t index)
{
    return atomic_load_explicit(args_of(self, index), memory_order_relaxed) & 0xffff;
}

/* Ends the innermost region, which has this index. */
static void end_innermost(struct dft_thread *self, uint32_t index, uint64_t end, const struct dft_region_data *data)
{
    const struct dft_open_region region = *region_at(self, index);
    uint32_t from = items_from(self, index); /* a handler's region may take this index below */
    struct dft_slot record = {.start = region.start,
                              .call = DFT_CALL_ANNOTATION + DFT_OP_REGION,
                              .file = region.name,
                              .offset = data ? data->offset : -1,
                              .region = index ? region_at(self, index - 1)->name : 0,
                              .fd = -1,
                              .depth = (uint16_t)index};

    if (!leave_region(self, index)) {
        leave_args(self, index);
    } else if (region.start) {
        uint8_t size[9] = {DFT_ITEM_SIZE};

        if (data)
            memcpy(size + 1, &data->size, 8);
        dft_annotate_put(self, &record, dft_ticks_between(region.start, end), size,
                         data && data->size ? sizeof size : 0, from);
        return;
    }
    self->args_used = (uint16_t)from;
}

/* Spans that go on here have the start 0. */
static int is_it(struct dft_thread *self, uint32_t index, uint64_t name, int is_span)
{
    const struct dft_open_region *region = region_at(self, index);

    return region->name == name && (region->start == 0) == is_span;
}

/* The index + 1 of the innermost region of that name; 0: it is not open. */
static uint32_t place_of(struct dft_thread *self, uint32_t depth, uint64_t name)
{
    while (depth > 0 && !is_it(self, depth - 1, name, 0))
        depth--;
    return depth;
}

_Atomic uint32_t *dft_region_args_of(struct dft_thread *self, uint64_t name)
{
    uint32_t depth = atomic_load_explicit(&self->home->depth, memory_order_relaxed);
    uint32_t place = depth > (self->deep ? DFT_REGIONS_MAX : DFT_OPEN_REGIONS) ? 0 : place_of(self, depth, name);

    return place ? args_of(self, place - 1) : NULL;
}

/* Beyond what is kept only the number of regions is known: one less. */
static int leave_unknown(struct dft_thread *self, uint32_t depth)
{
    if (__builtin_expect(depth <= (self->deep ? DFT_REGIONS_MAX : DFT_OPEN_REGIONS), 1))
        return 0;
    atomic_store_explicit(&self->home->depth, depth - 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&self->ring->dropped[DFT_DROP_TOO_DEEP], 1, memory_order_relaxed);
    return 1;
}

/* Ends the region with this index, which is the innermost that fits (-1: none does), and those
 * within. */
static int end_from(struct dft_thread *self, uint32_t depth, int index, uint64_t end,
                    const struct dft_region_data *data)
{
    int within = (int)depth - 1 - index;

    if (index < 0)
        return -1;
    while ((int)depth > index) {
        depth--;
        end_innermost(self, depth, end, (int)depth == index ? data : NULL);
    }
    return within;
}

int dft_region_end(struct dft_thread *self, uint64_t name, uint64_t end)
{
    uint32_t depth = atomic_load_explicit(&self->home->depth, memory_order_relaxed);
    int index = (int)depth - 1;

    if (leave_unknown(self, depth))
        return 0;
    while (index >= 0 && !is_it(self, (uint32_t)index, name, 0))
        index--;
    return end_from(self, depth, index, end, NULL);
}

/* A start of 0 has no event. */
void dft_region_drop(struct dft_thread *self, uint64_t name)
{
    uint32_t depth = atomic_load_explicit(&self->home->depth, memory_order_relaxed);

    if (leave_unknown(self, depth) || depth == 0 || !is_it(self, depth - 1, name, 0))
        return;
    region_at(self, depth - 1)->start = 0;
    end_innermost(self, depth - 1, 0, NULL);
}

uint64_t dft_region_span(struct dft_thread *self, uint64_t name)
{
    uint32_t depth = atomic_load_explicit(&self->home->depth, memory_order_relaxed);

    if (depth > (self->deep ? DFT_REGIONS_MAX : DFT_OPEN_REGIONS))
        return 0;
    while (depth > 0 && !is_it(self, depth - 1, name, 1))
        depth--;
    return depth ? *frame_of(self, depth - 1) : 0;
}

int dft_region_leave(struct dft_thread *self, uint64_t name, uint64_t id)
{
    uint32_t depth = atomic_load_explicit(&self->home->depth, memory_order_relaxed);
    int index = (int)depth - 1;

    if (leave_unknown(self, depth))
        return 0;
    while (index >= 0 && !(is_it(self, (uint32_t)index, name, 1) && *frame_of(self, (uint32_t)index) == id))
        index--;
    return end_from(self, depth, index, dft_ticks(), NULL);
}

#define LOOK_MAX 64u /* regions that are looked at: what is left open is near */
void dft_region_end_left(struct dft_thread *self, uint64_t end, uint64_t frame)
{
    uint32_t depth = atomic_load_explicit(&self->home->depth, memory_order_relaxed);
    uint32_t least = depth > LOOK_MAX ? depth - LOOK_MAX : 0;

    if (depth > (self->deep ? DFT_REGIONS_MAX : DFT_OPEN_REGIONS))
        return;
    for (uint32_t i = depth; i > least; i--)
        if (*frame_of(self, i - 1) == frame && region_at(self, i - 1)->start) {
            end_from(self, depth, (int)i - 1, end, NULL);
            return;
        }
}

int dft_region_end_call(struct dft_thread *self, uint64_t name, uint64_t end, uint64_t frame,
                        const struct dft_region_data *data)
{
    uint32_t depth = atomic_load_explicit(&self->home->depth, memory_order_relaxed);
    int index = (int)depth - 1;

    if (leave_unknown(self, depth))
        return 0;
    while (index >= 0 && !(is_it(self, (uint32_t)index, name, 0) && *frame_of(self, (uint32_t)index) >= frame))
        index--;
    return end_from(self, depth, index, end, data);
}

/* Of several open calls of the function: nearly always the innermost. Calls that were left by a
 * longjmp or an exception lie below the frame of who exits. Where its frame is gone already it is
 * the highest of those that lie below the hook's; nothing higher than FRAME_MAX is looked at,
 * because a handler's, or a coroutine's, stack may lie anywhere. */
#define FRAME_MAX (UINT64_C(1) << 20)
int dft_function_end(struct dft_thread *self, uint64_t name, uint64_t end, uint64_t frame, int left)
{
    uint32_t depth = atomic_load_explicit(&self->home->depth, memory_order_relaxed);
    int innermost = -1, found = -1;

    if (leave_unknown(self, depth))
        return 0;
    for (int i = (int)depth - 1; i >= 0; i--) {
        uint64_t at = *frame_of(self, (uint32_t)i);
        int fits = at && is_it(self, (uint32_t)i, name, 0);

        if (innermost < 0 && fits)
            innermost = i;
        if (left && at && (at >= frame || frame - at > FRAME_MAX))
            break;
        if (fits && (left || at >= frame))
            found = i;
        if (fits && !left && at >= frame)
            break;
    }
    return end_from(self, depth, found >= 0 ? found : innermost, end, NULL);
}

static void reverse(uint8_t *from, uint8_t *to)
{
    for (; from < to; from++) {
        uint8_t byte = *from;

        *from = *--to;
        *to = byte;
    }
}

/* While the items of the regions from this index on move by `more` bytes, nobody else may read
 * them. */
static void hide_args(struct dft_thread *self, uint32_t index, uint32_t depth)
{
    for (; index < depth; index++)
        atomic_fetch_or_explicit(args_of(self, index), DFT_REGION_ARGS_HIDDEN, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
}

static void show_args(struct dft_thread *self, uint32_t index, uint32_t depth, uint32_t more)
{
    for (; index < depth; index++) {
        uint32_t word = atomic_load_explicit(args_of(self, index), memory_order_relaxed);

        atomic_store_explicit(args_of(self, index), (word & ~DFT_REGION_ARGS_HIDDEN) + (more | more << 16),
                              memory_order_release);
    }
}

/* The items change places with those of the regions within. */
int dft_region_give_args(struct dft_thread *self, uint64_t name, uint32_t args_from)
{
    uint32_t depth = atomic_load_explicit(&self->home->depth, memory_order_relaxed), index, at;
    uint32_t more, word;
    uint8_t *args = self->home->args;

    if (depth > (self->deep ? DFT_REGIONS_MAX : DFT_OPEN_REGIONS))
        return -1;
    args_from &= ~DFT_ARGS_CUT;
    more = (self->args_used & ~DFT_ARGS_CUT) - args_from;
    index = place_of(self, depth, name);
    if (!index)
        return -1;
    at = index < depth ? items_from(self, index) & ~DFT_ARGS_CUT : args_from;
    hide_args(self, index, depth);
    reverse(args + at, args + args_from);
    reverse(args + args_from, args + args_from + more);
    reverse(args + at, args + args_from + more);
    show_args(self, index, depth, more);
    word = atomic_load_explicit(args_of(self, index - 1), memory_order_relaxed);
    if (dft_region_args_end(word) == at)
        atomic_store_explicit(args_of(self, index - 1), word + (more << 16), memory_order_release);
    return 0;
}

void dft_annotate_end_all(struct dft_thread *self, const char *what, int left)
{
    uint64_t end = dft_ticks();
    uint32_t depth = atomic_load_explicit(&self->home->depth, memory_order_relaxed);
    uint32_t most = self->deep ? DFT_REGIONS_MAX : DFT_OPEN_REGIONS;

    if (depth > most) {
        atomic_fetch_add_explicit(&self->ring->dropped[DFT_DROP_TOO_DEEP], depth - most, memory_order_relaxed);
        depth = most;
        atomic_store_explicit(&self->home->depth, depth, memory_order_relaxed);
    }
    while (depth > 0) {
        depth--;
        if (left && !*frame_of(self, depth))
            dft_misuse(self, DFT_MISUSE_LEFT_OPEN, 1);
        dft_annotate_keep_own(self, DFT_ENDED_BY, what);
        end_innermost(self, depth, end, NULL);
    }
}
