/* SPDX-License-Identifier: MIT */
/* What a time line consists of: columns of time, and a series for each rank, class or process. */
#ifndef DFT_TIMELINE_H
#define DFT_TIMELINE_H

#include "base/map.h"
#include "command/command.h"
#include "job/job.h"
#include "query/answer.h"

#define DFT_TIMELINE_COLUMNS_MAX 20000u

/* What of an interval is shown. */
enum dft_timeline_measure { DFT_TIMELINE_BYTES, DFT_TIMELINE_CALLS, DFT_TIMELINE_TIME, DFT_TIMELINE_MEASURES };

/* One interval of time, a column of the plot. */
struct dft_timeline_column {
    uint64_t calls, errors; /* that start in it */
    uint64_t time_ns;       /* ... and their durations */
    uint64_t busy_ns;       /* what lies in the interval of all calls */
    uint64_t read, written; /* bytes, counted where the call starts */
    uint64_t union_ns;      /* time in which some call was going on; at most, unless the time line is_exact */
    uint64_t in_flight_max;
    uint32_t processes, threads; /* with a call going on */
    uint32_t alive;              /* processes that run in it, with calls or without */
};

/* One interval of the rows: which 64ths of it are busy, and what lies in it of all calls. */
struct dft_timeline_fine {
    uint64_t occupancy, busy_ns;
};

/* One rank, class or process. */
struct dft_timeline_series {
    char *name; /* escaped */
    uint64_t id;
    uint64_t calls, time_ns, read, written;
    uint64_t *values; /* of the measure, by column */
    uint64_t largest; /* of these */
};

struct dft_timeline {
    struct dft_source *source;
    const struct dft_options *options;
    struct dft_job job;
    enum dft_timeline_measure measure;
    int events, heat;
    uint32_t top;               /* lines; 0: not specified */
    enum dft_by by;             /* DFT_BY_COUNT: no series */
    uint64_t interval_ns;       /* of the rows; 0: there are none */
    uint64_t fine_ns, width_ns; /* of the query, and of columns: a multiple of it */
    uint64_t base_ns;           /* where the first column begins */
    uint64_t start_ns, end_ns;  /* the part of the run that is requested; columns cover it */
    struct dft_timeline_column *columns;
    uint32_t count;
    struct dft_timeline_series *series;
    size_t nseries, series_capacity;
    struct dft_map series_of; /* id + 1 -> position + 1 */
    /* what is known */
    int knows_busy, is_exact; /* is_exact: the union of calls, and the most in flight */
    int knows_occupancy;
    uint64_t total[DFT_TIMELINE_MEASURES], read, written;
    uint64_t union_ns;      /* time in which some call was going on; at most, unless is_exact */
    struct dft_answer last; /* of the last query: what answered. Without groups */
    /* while counting */
    struct dft_timeline_fine *fine; /* by fine interval */
    size_t nfine;
    uint8_t *active; /* bits by column and process */
    size_t active_stride;
};

/* Chooses what is requested, and the width of columns: `interval_ns`, or where it is 0 a round one
 * with which there are at most `columns`. Returns 0, -errno, or -EINVAL after an error: too many. */
int dft_timeline_choose_width(struct dft_timeline *timeline, uint64_t interval_ns, uint32_t columns);
/* Counts all of it. Returns 0 or -errno. */
int dft_timeline_count(struct dft_timeline *timeline);
void dft_timeline_fini(struct dft_timeline *timeline);
uint64_t dft_timeline_value(const struct dft_timeline_column *column, enum dft_timeline_measure measure);
/* The column of a time group. NULL: it lies outside all, or there is no memory (*rc). */
struct dft_timeline_column *dft_timeline_column_of(struct dft_timeline *timeline, const struct dft_answer *answer,
                                                   const struct dft_group *group, int *rc);
/* Columns go on to the end, with calls or without, and know the processes that live in them.
 * Returns 0 or -ENOMEM. */
int dft_timeline_add_lives(struct dft_timeline *timeline);
/* How much of `columns` columns from this one on lies in what is requested, in ns; at least 1. */
uint64_t dft_timeline_span(const struct dft_timeline *timeline, uint32_t column, uint32_t columns);

#endif
