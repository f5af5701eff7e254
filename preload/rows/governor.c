/* SPDX-License-Identifier: MIT */
/* Owns the decision between events and aggregates.
 *
 * While events are kept, the window tells what a call costs. With aggregates the cost of events is
 * that, times the calls of the window: so a phase with few calls brings events back, and a phase
 * with many does not. Events return below half of the limit: a cost near the limit does not make the
 * decision swing. */
#include "rows/governor.h"

#define LEAST_NS   10000000u /* processor time of a window */
#define MILLIONTHS 1000000u
#define PERCENT    (MILLIONTHS / 100)
#define HYSTERESIS 2u

static uint64_t share_of(uint64_t own_ns, uint64_t program_ns)
{
    __uint128_t share = (__uint128_t)own_ns * MILLIONTHS / (program_ns ? program_ns : 1);

    return share > UINT32_MAX ? UINT32_MAX : (uint64_t)share;
}

/* Numbers that went back are those of another time: a window begins anew. */
static int went_back(const struct dft_governor_now *before, const struct dft_governor_now *now)
{
    return now->time_ns < before->time_ns || now->cpu_ns < before->cpu_ns || now->drain_ns < before->drain_ns ||
           now->calls < before->calls;
}

int dft_governor_decide(struct dft_governor *governor, const struct dft_governor_now *now, unsigned limit_percent)
{
    const uint64_t limit = (uint64_t)limit_percent * PERCENT;
    struct dft_governor_now *last = &governor->last;
    uint64_t cpu_ns, own_ns, calls;
    int aggregates;

    if (!governor->is_begun || went_back(last, now)) {
        governor->is_begun = 1;
        *last = *now;
        return 0;
    }
    cpu_ns = now->cpu_ns - last->cpu_ns;
    if (now->time_ns - last->time_ns < DFT_GOVERNOR_WINDOW_NS || cpu_ns < LEAST_NS)
        return 0;
    calls = now->calls - last->calls;
    own_ns = now->drain_ns - last->drain_ns + calls * governor->call_ns;
    own_ns = own_ns < cpu_ns ? own_ns : cpu_ns;
    *last = *now;
    governor->last_ppm = share_of(own_ns, cpu_ns - own_ns);
    if (!governor->aggregates) {
        governor->event_ps = calls ? (uint64_t)((__uint128_t)own_ns * 1000 / calls) : governor->event_ps;
        aggregates = governor->last_ppm > limit;
    } else {
        aggregates =
            share_of((uint64_t)((__uint128_t)calls * governor->event_ps / 1000), cpu_ns - own_ns) * HYSTERESIS >= limit;
    }
    if (aggregates == governor->aggregates)
        return 0;
    governor->aggregates = aggregates;
    return 1;
}
