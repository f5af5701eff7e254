/* SPDX-License-Identifier: MIT */
/* Overlap from events and from rows: what both fill in. */
#ifndef DFT_OVERLAP_EVENTS_H
#define DFT_OVERLAP_EVENTS_H

#include "job/flights.h"
#include "job/region_kinds.h"
#include "analysis/overlap_sweep.h"

/* A query on its way. */
struct dft_overlapping {
    const struct dft_overlap_request *request;
    struct dft_overlap *overlap;
    struct dft_region_kinds kinds;
    struct dft_flights flights;
    uint32_t *lane_of; /* by process of the source: position in overlap->processes, or DFT_NO_LANE */
    struct dft_overlap_sweep sweep;
};

/* Goes through all events, exactly. Returns 0 or -ENOMEM. Collective. */
int dft_overlap_from_events(struct dft_overlapping *overlapping);
/* Goes through all rows, and events where there are no rows. Returns 0 or -ENOMEM. Collective. */
int dft_overlap_from_rows(struct dft_overlapping *overlapping);

/* The filter's processes alone, of any time, and whatever the calls: for regions. */
struct dft_filter dft_overlap_any_call(const struct dft_filter *filter);
/* What a call is, as 1 << enum dft_busy; of a region that is a scope also 1 << (DFT_BUSY_SCOPE +
 * enum dft_region_kind). Any thread. */
unsigned dft_overlap_call(const struct dft_overlapping *overlapping, const struct dft_call *call);
/* From when to when a call in flight waits, within the time of the filter, and the lane of its process. Returns 0 where
 * it does not: a region may compute. */
int dft_overlap_flight(const struct dft_overlapping *overlapping, const struct dft_flight *flight, uint32_t *lane,
                       uint64_t *start, uint64_t *end);
/* Does I/O pass but for its time and its call? */
int dft_overlap_io_passes(const struct dft_filter *filter, const struct dft_event *event, uint8_t op);

#endif
