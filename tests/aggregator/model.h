/* SPDX-License-Identifier: MIT */
/* An aggregator that is slow and obvious, written from the text of aggregate.h alone, to compare
 * the real one with; and random events for both. */
#ifndef DFT_TESTS_MODEL_H
#define DFT_TESTS_MODEL_H

#include "aggregator/aggregate.h"
#include "format/event.h"

/* --- random numbers: xorshift64* (S. Vigna), the same everywhere for one seed */
struct random_state {
    uint64_t state;
};
uint64_t random_next(struct random_state *);
uint64_t random_below(struct random_state *, uint64_t limit);

/* --- events */
#define MODEL_CALLS   15u
#define MODEL_REGIONS 4u
#define MODEL_FILES   6u
extern struct dft_call model_calls[MODEL_CALLS];
extern const uint64_t model_regions[MODEL_REGIONS];
extern const uint64_t model_files[MODEL_FILES];

void model_init(void); /* the ids of the calls */

struct model_times {
    uint64_t base_ns, spread_ns; /* starts */
    uint64_t dur_ns, long_ns;    /* most durations, one in ten */
    uint32_t calls, regions;     /* only the first so many of those above; 0: all. Few make long runs of one row. */
};
void model_random_event(struct random_state *, const struct model_times *times, struct dft_event *event);

/* --- the model */
struct model_row {
    struct dft_row row;
    uint64_t durations[DFT_BINS], sizes[DFT_BINS], asked[DFT_BINS];
    uint64_t (*touched)[2]; /* begin and end of each access */
    uint32_t ntouched;
    struct dft_pattern pattern;
};
struct model {
    uint64_t interval_ns;
    unsigned keep;
    struct model_row **rows;
    uint32_t count;
};
void model_add(struct model *, const struct dft_event *events, uint32_t count);
void model_free(struct model *);
/* The rows in order, in the form of dft_table_rows; to be freed with model_free_rows. */
struct dft_row *model_rows(struct model *);
void model_free_rows(struct model *, struct dft_row *rows);

uint32_t model_bin(uint64_t value);
/* The percentile of values, `count` of them, which it sorts. */
uint64_t model_percentile(uint64_t *values, uint32_t count, uint32_t p, uint64_t min, uint64_t max);

/* The first difference between two sets of rows as a text, NULL when there is none. without_busy:
 * edge and step may differ. */
const char *model_difference(const struct dft_row *a, uint32_t na, const struct dft_row *b, uint32_t nb,
                             int without_busy);

#endif
