/* SPDX-License-Identifier: MIT */
/* Samples of counters: their form in memory. A counter is a number that somebody reads now and then:
 * memory in use, bytes read so far. */
#ifndef DFT_COUNTER_H
#define DFT_COUNTER_H

#include <stdint.h>

#include "format/text.h"

/* What a value counts. */
enum dft_unit {
    DFT_UNIT_NUMBER = 0, /* things: calls, threads, faults */
    DFT_UNIT_BYTES = 1,
    DFT_UNIT_NS = 2,
    DFT_UNIT_PERCENT = 3,
    DFT_UNIT_LAST = 3,
};

/* A level stands for the moment alone. A total only grows, and its differences have a meaning. */
enum dft_counter_kind { DFT_COUNTER_LEVEL = 0, DFT_COUNTER_TOTAL = 1 };

/* One counter of a block. */
struct dft_counter_series {
    uint64_t id;  /* of its name, "category NUL name" */
    uint8_t unit; /* enum dft_unit; a reader takes unknown ones for numbers */
    uint8_t kind; /* enum dft_counter_kind */
    uint8_t real; /* 1: the values are doubles */
};

struct dft_counter_sample {
    uint64_t time_ns; /* Unix ns */
    uint32_t series;  /* position */
    union {
        int64_t value;
        double number; /* of a real series */
    };
};

static inline double dft_counter_sample_number(const struct dft_counter_sample *sample,
                                               const struct dft_counter_series *series)
{
    return series->real ? sample->number : (double)sample->value;
}

/* Samples in the order in which they were taken. The i-th one has the number first + i. Samples that
 * follow each other with one time and ascending series are a moment, which takes little room. */
struct dft_counters {
    uint64_t key;
    uint32_t stream, tid;
    uint64_t first;      /* number of the first sample */
    uint64_t start, end; /* the least and the largest time; filled in by both directions */
    struct dft_counter_series *series;
    uint32_t nseries;
    struct dft_counter_sample *samples;
    uint32_t count;
    struct dft_name *names; /* definitions at hand */
    uint32_t nnames;
};

#endif
