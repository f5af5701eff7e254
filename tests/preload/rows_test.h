/* SPDX-License-Identifier: MIT */
/* What the parts of rows_test share: a run of random calls. */
#ifndef ROWS_TEST_H
#define ROWS_TEST_H

#include "aggregator/aggregate.h"
#include "rows/rows_inside.h"

#define TABLE      (DFT_LIVE_TABLE_BYTES / 8)
#define BASE_TICKS UINT64_C(5000000000)

/* One run: what the calls are, and what they gave. */
struct run {
    uint64_t width, now, mult; /* ns; ticks; of the clock */
    uint32_t nfiles, ncalls, nregions;
    uint16_t calls[24];
    uint64_t offsets[512];
    struct dft_thread thread;
    struct dft_rows rows;
    uint64_t table[TABLE], before[TABLE], copy[TABLE];
    struct dft_table *by_rows, *by_events, *unknown; /* unknown: files of which not all that was touched is known */
    uint64_t taken, flushes, refused, half_steps, known;
    int is_folded, is_dense; /* dense: many calls in little time */
};
extern struct run run;

void begin_random(uint64_t seed);
uint64_t below(uint64_t n);
int once_in(uint64_t n);

/* Gives the run's thread a random call, and the table of events the same as an event. Returns whether
 * the thread's rows have it. */
int give(void);

#endif
