/* SPDX-License-Identifier: MIT */
/* The resolution of times that is kept (DFTRACER_TIME_METRIC). */
#ifndef DFT_RESOLUTION_H
#define DFT_RESOLUTION_H

#include "format/clock.h"
#include "format/event.h"

/* Brings an event's times to the resolution. *previous_end is the end of the stream's previous
 * event after this (0: none), for REL: its error goes into the next gap, so that it does not add
 * up. */
void dft_resolution_keep(enum dft_time_metric metric, uint64_t *previous_end, struct dft_event *event);

#endif
