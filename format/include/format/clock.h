/* SPDX-License-Identifier: MIT */
/* Ticks to Unix nanoseconds: one relation serves all threads of a process. */
#ifndef DFT_FORMAT_CLOCK_H
#define DFT_FORMAT_CLOCK_H

#include <stdint.h>

enum dft_time_metric { DFT_TIME_NS = 0, DFT_TIME_US = 1, DFT_TIME_MS = 2, DFT_TIME_SEC = 3, DFT_TIME_REL = 4 };

/* ticks -> Unix ns: base_ns + ((ticks - base_ticks) * mult >> 32). `earlier` ticks have another
 * relation: they were counted before the machine was suspended, or before the ratio was known as
 * well as now. */
struct dft_clock {
    uint64_t base_ticks;
    uint64_t base_ns; /* Unix */
    uint64_t mult;    /* ns per tick, 32.32 */
    struct {
        uint64_t first, count; /* which ticks */
        uint64_t base_ticks, base_ns, mult;
    } earlier;
};

static inline uint64_t dft_clock_convert(uint64_t base_ticks, uint64_t base_ns, uint64_t mult, uint64_t ticks)
{
    if (__builtin_expect(ticks >= base_ticks, 1))
        return base_ns + (uint64_t)(((unsigned __int128)(ticks - base_ticks) * mult) >> 32);
    return base_ns - (uint64_t)(((unsigned __int128)(base_ticks - ticks) * mult) >> 32);
}

/* ticks -> Unix ns. */
static inline uint64_t dft_clock_ns(const struct dft_clock *clock, uint64_t ticks)
{
    if (__builtin_expect(ticks >= clock->earlier.first && ticks - clock->earlier.first < clock->earlier.count, 0))
        return dft_clock_convert(clock->earlier.base_ticks, clock->earlier.base_ns, clock->earlier.mult, ticks);
    return dft_clock_convert(clock->base_ticks, clock->base_ns, clock->mult, ticks);
}

/* The time from a start that was converted already to these ticks: never negative. */
static inline uint64_t dft_clock_since(const struct dft_clock *clock, uint64_t start_ns, uint64_t ticks)
{
    uint64_t end_ns = dft_clock_ns(clock, ticks);

    return end_ns > start_ns ? end_ns - start_ns : 0;
}

/* The same for ticks not far from each other, in numbers of 64 bits: the same to the last bit. */
struct dft_near_clock {
    uint64_t origin, most; /* ticks from the origin on and less than `most` behind it */
    uint64_t origin_ns;
    uint64_t rest; /* how much of the next ns has passed then, in 2^-32 of it */
    uint64_t mult;
};

/* Around these ticks; `most` is 0 where they cannot be determined in this way. */
struct dft_near_clock dft_near_clock(const struct dft_clock *clock, uint64_t ticks);

static inline int dft_near_clock_knows(const struct dft_near_clock *near, uint64_t ticks)
{
    return __builtin_expect(ticks - near->origin < near->most, 1);
}

static inline uint64_t dft_near_clock_ns(const struct dft_near_clock *near, uint64_t ticks)
{
    return near->origin_ns + ((near->rest + (ticks - near->origin) * near->mult) >> 32);
}

#endif
