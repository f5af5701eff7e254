/* SPDX-License-Identifier: MIT */
/* What of a filter is answered from an event alone. */
#ifndef DFT_FILTER_EVENT_H
#define DFT_FILTER_EVENT_H

#include "format/event.h"
#include "views/filter.h"

/* Does an event pass by its time alone? */
static inline int dft_filter_time(const struct dft_filter *filter, const struct dft_event *event)
{
    return event->start_ns >= filter->from_ns && (event->start_ns < filter->to_ns || filter->to_ns == UINT64_MAX);
}

/* Does an event pass by its duration and its facets? */
static inline int dft_filter_looks(const struct dft_filter *filter, const struct dft_event *event, uint8_t op)
{
    if (dft_filter_has(filter, DFT_FILTER_SLOWER) && event->dur_ns <= (uint64_t)filter->values[DFT_FILTER_SLOWER].ns)
        return 0;
    return !dft_filter_has_facets(filter) || dft_filter_facets(filter, dft_event_facets(event, op));
}

#endif
