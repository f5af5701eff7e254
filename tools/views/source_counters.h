/* SPDX-License-Identifier: MIT */
/* What the samples of each counter of each process say, without the samples themselves. */
#ifndef DFT_SOURCE_COUNTERS_H
#define DFT_SOURCE_COUNTERS_H

#include "base/map.h"
#include "format/counter.h"
#include "views/filter.h"
#include "object/object.h"

#define DFT_COUNTER_BINS 24u

/* A value of a counter: long enough for all integers of 64 bits, and for all doubles. */
typedef long double dft_counter_value;

/* The time from start to end of the source, in equal parts. */
struct dft_counter_bin {
    uint64_t time_ns;        /* of the last sample in it; 0: there is none */
    dft_counter_value value; /* of that sample; the greatest of a level */
};

/* One counter of one process. */
struct dft_counter_fact {
    uint32_t process;
    uint8_t unit, kind, real; /* as in struct dft_counter_series */
    uint64_t id;              /* of its name */
    uint64_t call, key;       /* of events: the counter's name, and which argument; else 0 */
    uint64_t samples;
    uint64_t first_ns, last_ns;
    dft_counter_value first, last, least, most, sum;
    struct dft_counter_bin bins[DFT_COUNTER_BINS];
};

struct dft_counter_facts {
    struct dft_counter_fact *list; /* by process, then by name */
    size_t count, capacity;
    struct dft_map places;
    uint64_t start_ns, end_ns; /* of the bins */
};

/* Reads all samples that pass the filter (rank, pid, time, cat, name). The names of counters are then
 * known. ids: only these counters, behind them 0; NULL: all. Collective. Returns 0 or -ENOMEM. */
int dft_source_counters(struct dft_source *source, const struct dft_filter *filter, const uint64_t *ids,
                        struct dft_counter_facts *facts);
/* Adds the counters that are events: those of the program, and those of DFTracer's traces. Reads all
 * events. For one rank. Returns 0 or -ENOMEM. */
int dft_source_counter_events(struct dft_source *source, const struct dft_filter *filter,
                              struct dft_counter_facts *facts);
void dft_counter_facts_fini(struct dft_counter_facts *facts);

/* Are there samples at all? */
int dft_source_has_counters(const struct dft_source *source);

#endif
