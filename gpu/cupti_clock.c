/* SPDX-License-Identifier: MIT */
/* Owns the clock: CUPTI takes its times from ours where it supports that. Otherwise both are read at the start and
 * whenever a buffer comes, and what lies between is converted along the line through both. */
#include <errno.h>
#include <time.h>

#include "cupti_module.h"

#define READINGS 5
#define LINE_MIN UINT64_C(10000000) /* ns: of less a line would be a guess */

static int64_t offset;           /* from the monotonic clock to that of the trace */
static uint64_t first, first_at; /* by CUPTI, and by the trace */
static int is_ours;

static uint64_t CUPTIAPI monotonic(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Reads another clock between two readings of ours; the closest of a few. Returns its time, 0: it gave none. */
static uint64_t read_beside(uint64_t (*other)(const struct dftrace_api *api), const struct dftrace_api *api,
                            uint64_t *ours)
{
    uint64_t best = UINT64_MAX, found = 0;

    for (int i = 0; i < READINGS; i++) {
        uint64_t before = monotonic(), time = other(api), after = monotonic();

        if (!time || after - before >= best)
            continue;
        best = after - before;
        found = time;
        *ours = before + best / 2;
    }
    return found;
}

static uint64_t trace_time(const struct dftrace_api *api)
{
    return api->now();
}

static uint64_t cupti_time(const struct dftrace_api *api)
{
    uint64_t time = 0;

    (void)api;
    return dft_cupti.get_timestamp(&time) == CUPTI_SUCCESS ? time : 0;
}

int dft_cupti_clock_start(const struct dftrace_api *api)
{
    uint64_t ours = 0, traced = read_beside(trace_time, api, &ours);

    if (!traced)
        return -EAGAIN;
    offset = (int64_t)(traced - ours);
    is_ours = dft_cupti.register_timestamp && dft_cupti.register_timestamp(monotonic) == CUPTI_SUCCESS;
    if (is_ours)
        return 0;
    first = read_beside(cupti_time, NULL, &ours);
    first_at = ours + (uint64_t)offset;
    return first ? 0 : -EAGAIN;
}

struct dft_cupti_clock dft_cupti_clock_now(void)
{
    struct dft_cupti_clock clock = {.from = first, .at = first_at};
    uint64_t ours = 0, now;

    if (is_ours)
        return (struct dft_cupti_clock){.from = 0, .at = (uint64_t)offset};
    now = read_beside(cupti_time, NULL, &ours);
    ours += (uint64_t)offset;
    if (now > first && now - first >= LINE_MIN && ours > first_at) {
        clock.length = now - first;
        clock.measures = ours - first_at;
    }
    return clock;
}

uint64_t dft_cupti_clock_convert(const struct dft_cupti_clock *clock, uint64_t time)
{
    int64_t since = (int64_t)(time - clock->from);

    if (clock->length)
        since = (int64_t)((__int128)since * clock->measures / clock->length);
    return clock->at + (uint64_t)since;
}
