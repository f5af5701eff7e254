/* SPDX-License-Identifier: MIT */
/* Events whose times the program says. */
#ifndef DFT_REGIONS_EVENT_H
#define DFT_REGIONS_EVENT_H

#include <dftrace/dftrace.h>
#include "thread/state.h"

/* A complete event with start and duration in ns, by the clock of now. */
void dft_event(struct dftrace_site *site, uint64_t start_ns, uint64_t duration_ns, const struct dftrace_arg *args,
               uint32_t count);
void dft_span_event(struct dftrace_site *site, uint64_t start_ns, uint64_t duration_ns, uint64_t bytes,
                    const struct dftrace_arg *args, uint32_t count);
uint64_t dft_event_now(void);

#endif
