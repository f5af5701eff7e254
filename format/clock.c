/* SPDX-License-Identifier: MIT */
/* Which ticks lie near others, so that numbers of 64 bits tell their times. */
#include "format/clock.h"

/* The ticks from `from` on and below `end` have one relation. */
struct part {
    uint64_t from, end;
    uint64_t base_ticks, base_ns, mult;
};

/* Before a part's base times are rounded in another way. */
static struct part part_of(const struct dft_clock *clock, uint64_t ticks)
{
    uint64_t first = clock->earlier.first, count = clock->earlier.count;
    uint64_t end = count < UINT64_MAX - first ? first + count : UINT64_MAX;
    struct part part = {0, UINT64_MAX, clock->base_ticks, clock->base_ns, clock->mult};

    if (ticks >= first && ticks - first < count)
        part = (struct part){first, end, clock->earlier.base_ticks, clock->earlier.base_ns, clock->earlier.mult};
    else if (count && ticks < first)
        part.end = first;
    else if (count)
        part.from = end;
    if (part.from < part.base_ticks)
        part.from = part.base_ticks;
    return part;
}

struct dft_near_clock dft_near_clock(const struct dft_clock *clock, uint64_t ticks)
{
    const struct part part = part_of(clock, ticks);
    /* Neither the product nor its sum with the rest has more than 64 bits. */
    uint64_t most = part.mult ? (UINT64_C(1) << 62) / part.mult : 0;
    uint64_t origin = ticks > most / 4 ? ticks - most / 4 : 0; /* of what is around them, some began before */
    unsigned __int128 product;

    if (origin < part.from)
        origin = part.from;
    if (ticks < part.from || ticks >= part.end)
        most = 0;
    else if (part.end - origin < most)
        most = part.end - origin;
    product = (unsigned __int128)(origin - part.base_ticks) * part.mult;
    return (struct dft_near_clock){.origin = origin,
                                   .most = most,
                                   .origin_ns = part.base_ns + (uint64_t)(product >> 32),
                                   .rest = (uint32_t)product,
                                   .mult = part.mult};
}
