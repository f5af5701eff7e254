/* SPDX-License-Identifier: MIT */
/* Times at a coarser resolution than the clock's. */
#include "resolution.h"

/* Seven significant bits. */
static uint64_t keep_seven(uint64_t value)
{
    int extra = value < 128 ? 0 : 57 - __builtin_clzll(value);

    return value >> extra << extra;
}

void dft_resolution_keep(enum dft_time_metric metric, uint64_t *previous_end, struct dft_event *event)
{
    static const uint64_t units[] = {1, 1000, 1000000, 1000000000};
    uint64_t unit, end = *previous_end;

    if (metric == DFT_TIME_REL) {
        event->dur_ns = keep_seven(event->dur_ns);
        if (end)
            event->start_ns = event->start_ns >= end ? end + keep_seven(event->start_ns - end)
                                                     : end - keep_seven(end - event->start_ns);
    } else {
        unit = units[metric <= DFT_TIME_SEC ? metric : DFT_TIME_NS];
        end = event->start_ns + event->dur_ns;
        event->start_ns -= event->start_ns % unit;
        event->dur_ns = end - end % unit - event->start_ns; /* of many short ones the sum is still right */
    }
    *previous_end = event->start_ns + event->dur_ns;
}
