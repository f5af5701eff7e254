/* SPDX-License-Identifier: MIT */
/* Samples of a process that no block holds yet. They lie in the second half of the live file's head
 * page, so that a killed process keeps them. One writer at a time (a lock in the process). */
#ifndef DFT_LIVE_COUNTERS_H
#define DFT_LIVE_COUNTERS_H

#include "format/counter.h"
#include "format/live_format.h"

enum dft_counter {
#define DFT_COUNTER(NAME, name, unit, kind, help) DFT_COUNTER_##NAME,
#include <dftrace/counters.def>
#undef DFT_COUNTER
    DFT_COUNTERS
};

#define DFT_LIVE_COUNTERS_AT 2048u
#define DFT_LIVE_MOMENTS     11u

/* What was sampled at one time. */
struct dft_live_moment {
    uint64_t time_ns; /* Unix ns */
    uint64_t present; /* bits: the counters that have a value */
    int64_t values[DFT_COUNTERS];
};

struct dft_live_counters {
    uint64_t id;               /* dft_live_counters_id() of the writer */
    uint64_t first;            /* number of the first sample of the list */
    _Atomic uint32_t nmoments; /* set last */
    uint32_t pad;
    struct dft_live_moment moments[DFT_LIVE_MOMENTS];
};
_Static_assert(sizeof(struct dft_live) <= DFT_LIVE_COUNTERS_AT, "the head leaves the second half of its page");
_Static_assert(DFT_LIVE_COUNTERS_AT + sizeof(struct dft_live_counters) <= DFT_LIVE_PAGE, "the samples fit the page");

static inline struct dft_live_counters *dft_live_counters(struct dft_live *live)
{
    return (struct dft_live_counters *)(void *)((char *)live + DFT_LIVE_COUNTERS_AT);
}

/* A number that tells versions of the list of counters apart. */
uint64_t dft_live_counters_id(void);

/* The moments as samples, for the encoder. What the result points to lies in *room. The caller sets
 * key and tid. */
struct dft_live_samples {
    struct dft_counter_series series[DFT_COUNTERS];
    struct dft_name names[DFT_COUNTERS];
    struct dft_counter_sample samples[DFT_LIVE_MOMENTS * DFT_COUNTERS];
};
struct dft_counters dft_live_counters_get(const struct dft_live_counters *live, struct dft_live_samples *room);

#endif
