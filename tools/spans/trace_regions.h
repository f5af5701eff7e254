/* SPDX-License-Identifier: MIT */
/* Regions, asynchronous spans and flows of traces, and the I/O in them, from events in order of
 * time. Memory grows with threads and with what is open at a time. */
#ifndef DFT_SPANS_TRACE_REGIONS_H
#define DFT_SPANS_TRACE_REGIONS_H

#include "base/map.h"
#include "base/names.h"
#include "object/object.h"
#include "spans/store.h"

struct dft_trace_sums {
    uint64_t io_ns, read_bytes, written_bytes, calls;
};

/* The regions of one process. */
struct dft_trace_process {
    struct dft_uuid uuid;
    uint64_t children; /* regions that lie in no other */
    struct dft_trace_sums sums;
    int is_running; /* or nobody can see whether it has ended */
};

struct dft_trace_thread;
struct dft_trace_flow;
struct dft_trace_regions {
    struct dft_span_store *store;
    const struct dft_names *names;
    struct dft_trace_process *processes; /* by number */
    struct dft_map numbers;              /* process and tid -> position + 1 */
    struct dft_trace_thread *threads;
    uint32_t nthreads, threads_capacity;
    struct dft_map flow_numbers; /* id and name -> position + 1; 0: the flow has ended */
    struct dft_trace_flow *flows;
    uint32_t nflows, flows_capacity, open_flows;
    struct dft_map span_starts; /* process and id -> start of the asynchronous span that has this id now */
    uint64_t span_ends_ns;      /* the last end of those */
};

/* Takes one event (dft_ordering_outer_first). `regions` is a struct dft_trace_regions, whose first
 * three members the caller has set. Returns 0 or an error of the store. */
int dft_trace_regions_take(void *regions, const struct dft_event_at *at);
/* All regions end. The sums of the processes are whole then. */
int dft_trace_regions_finish(struct dft_trace_regions *regions);
void dft_trace_regions_fini(struct dft_trace_regions *regions);
/* Puts sums as metrics of a span. */
int dft_trace_sums_put(struct dft_span_store *store, const struct dft_uuid *span, int64_t ns,
                       const struct dft_trace_sums *sums);

#endif
