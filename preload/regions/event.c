/* SPDX-License-Identifier: MIT */
/* Owns events whose times the program says: complete ones, with start and duration by the clock of
 * the trace. */
#include <string.h>

#include "regions/annotate.h"
#include "os/clock.h"
#include "os/self.h"
#include "ring/bursts.h"
#include "store/livefile.h"

uint64_t dft_event_now(void)
{
    return dft_annotate_thread() ? dft_clock_monotonic_ns() + (uint64_t)dft_clock_offset : 0;
}

/* The relation of the moment. Where system calls are forbidden, that of the last drain. */
static struct dft_clock clock_of_now(void)
{
    struct dft_clock clock = {.mult = UINT64_C(1) << 32};
    struct dft_signals before;

    if (dft_is_sandboxed()) {
        if (dft_live)
            clock = dft_live->clock;
        return clock;
    }
    before = dft_signals_block();
    dft_clock_update(&clock);
    dft_signals_restore(before);
    return clock;
}

static uint64_t ticks_of(const struct dft_clock *clock, uint64_t ns)
{
    unsigned __int128 ticks = clock->mult ? ((unsigned __int128)ns << 32) / clock->mult : ns;

    return ticks >> 63 ? UINT64_MAX >> 1 : (uint64_t)ticks;
}

/* Not later than now, nor before the machine's start. */
static uint64_t start_of(const struct dft_clock *clock, uint64_t start_ns)
{
    uint64_t now = dft_ticks(), ticks;

    if (start_ns >= clock->base_ns) {
        ticks = ticks_of(clock, start_ns - clock->base_ns);
        return ticks < now - clock->base_ticks ? clock->base_ticks + ticks : now;
    }
    ticks = ticks_of(clock, clock->base_ns - start_ns);
    return ticks < clock->base_ticks ? clock->base_ticks - ticks : 1;
}

/* The same, rounded up. */
static uint64_t ticks_above(const struct dft_clock *clock, uint64_t ns)
{
    unsigned __int128 scaled = (unsigned __int128)ns << 32;

    return ticks_of(clock, ns) + (clock->mult && scaled % clock->mult != 0);
}

/* How many ticks after the start are this duration, by the conversion of both. Where a tick is not
 * longer than a ns, the duration comes out of it as it went in. */
static uint64_t duration_of(const struct dft_clock *clock, uint64_t start, uint64_t duration_ns)
{
    uint64_t end_ns = dft_clock_convert(clock->base_ticks, clock->base_ns, clock->mult, start) + duration_ns, end;

    if (end_ns < duration_ns)
        return ticks_of(clock, duration_ns);
    if (end_ns >= clock->base_ns)
        end = clock->base_ticks + ticks_above(clock, end_ns - clock->base_ns);
    else
        end = clock->base_ticks - ticks_above(clock, clock->base_ns - end_ns);
    return dft_ticks_between(start, end);
}

/* The args are kept behind those of the open regions, then put with the items of `head` before them. */
static void put(struct dft_thread *self, struct dft_slot *record, uint64_t duration, const void *head,
                uint32_t head_bytes, const struct dftrace_arg *args, uint32_t count)
{
    uint32_t from = dft_args_begin(self);

    dft_annotate_keep_args(self, args, count);
    dft_annotate_put(self, record, duration, head, head_bytes, from);
}

void dft_event(struct dftrace_site *site, uint64_t start_ns, uint64_t duration_ns, const struct dftrace_arg *args,
               uint32_t count)
{
    struct dft_thread *self = dft_annotate_thread();
    struct dft_slot record = {.call = DFT_CALL_ANNOTATION + DFT_OP_REGION, .offset = -1, .fd = -1};
    struct dft_clock clock;

    if (!self)
        return;
    dft_bursts_end(self);
    clock = clock_of_now();
    record.start = start_of(&clock, start_ns);
    record.file = dft_annotate_site(self, site, "APP");
    record.region = dft_region_innermost(self, &record.depth);
    put(self, &record, duration_of(&clock, record.start, duration_ns), NULL, 0, args, count);
}

/* As other spans: the begin is a point, the end is the whole. */
void dft_span_event(struct dftrace_site *site, uint64_t start_ns, uint64_t duration_ns, uint64_t bytes,
                    const struct dftrace_arg *args, uint32_t count)
{
    struct dft_thread *self = dft_annotate_thread();
    struct dft_slot record = {.call = DFT_CALL_ANNOTATION + DFT_OP_REGION, .offset = -1, .fd = -1};
    uint8_t begin[11] = {DFT_ITEM_PHASE, DFT_PHASE_ASYNC_BEGIN, DFT_ITEM_ID};
    uint8_t end[18] = {DFT_ITEM_ID, [9] = DFT_ITEM_SIZE};
    struct dft_clock clock;
    uint64_t id;

    if (!self)
        return;
    dft_bursts_end(self);
    clock = clock_of_now();
    record.start = start_of(&clock, start_ns);
    record.file = dft_annotate_site(self, site, "ASYNC");
    id = dft_span_next_id(self);
    memcpy(begin + 3, &id, 8);
    memcpy(end + 1, &id, 8);
    memcpy(end + 10, &bytes, 8);
    put(self, &record, 0, begin, sizeof begin, NULL, 0);
    put(self, &record, duration_of(&clock, record.start, duration_ns), end, bytes ? 18 : 9, args, count);
    atomic_fetch_add_explicit(&self->home->spans_begun, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&self->home->spans_ended, 1, memory_order_relaxed);
}
