/* SPDX-License-Identifier: MIT */
/* What goes into the page of one run: its dimensions, and the tables that are made of it. */
#ifndef DFT_REPORT_H
#define DFT_REPORT_H

#include "command/command.h"
#include "findings/limits.h"
#include "job/job.h"
#include "query/answer.h"
#include "report/cube.h"

/* Something that the page does not have whole. */
struct dft_thinned {
    const char *what; /* "files" */
    uint64_t kept, of;
    char *text; /* a sentence without a full stop */
};

#define DFT_REPORT_CUBES     24u
#define DFT_REPORT_LATENCIES 6u

/* One cube of the page, or the histograms of durations by some dimensions. */
struct dft_report_part {
    unsigned dimensions;
    char table[DFT_DATA_NAME];
    unsigned sub; /* latency: bins of an octave, 32 or 1 */
};

/* The calls or accesses of a table of single events. */
struct dft_report_sample {
    uint64_t kept, of;
    uint64_t shortest_ns;
};

#define DFT_REPORT_OFFSET_FILES 16u

struct dft_report {
    struct dft_source *source;
    struct dft_options *options;
    const char *name;                /* "A", "B", or "" */
    const char *spans;               /* the member "spans" as JSON; NULL: null */
    const struct dft_limits *limits; /* of findings */
    struct dft_job job;
    uint64_t events; /* that the source holds one by one */

    /* time */
    uint64_t base_ns, width_ns, from_ns, to_ns; /* Unix; [from, to) is requested */
    uint32_t bins;

    /* dimensions: how many values, and which one something has */
    uint32_t whos, calls, regions, files, stacks;
    uint32_t other_region;                                /* the value of regions without one of their own */
    uint32_t *who_of;                                     /* by number of process; DFT_WHO_MAX: none */
    uint32_t *row_of;                                     /* by number of process: row of the tree + 1; 0: none */
    const char *who_word;                                 /* "process", "rank", "ranks" */
    struct dft_map call_of, region_of, file_of, stack_of; /* id -> value + 1 */
    uint8_t class_of_call[DFT_CALLS_MAX];                 /* by value */
    uint64_t offset_files[DFT_REPORT_OFFSET_FILES], offset_calls[DFT_REPORT_OFFSET_FILES]; /* id, data calls */
    uint32_t noffset_files;

    struct dft_page_data data;
    struct dft_report_part cubes[DFT_REPORT_CUBES], latencies[DFT_REPORT_LATENCIES];
    uint32_t ncubes, nlatencies;
    uint64_t *heat;                   /* ns of I/O by who and column */
    uint32_t heat_columns, heat_fold; /* a column has so many bins */
    int has_heat;
    struct dft_report_sample slices, offsets[DFT_REPORT_OFFSET_FILES];
    struct dft_thinned *thinned;
    size_t nthinned, thinned_capacity;
};

/* The value of a dimension for an id; 0 for those that have no value of their own. */
static inline uint32_t dft_report_value(const struct dft_map *map, uint64_t id)
{
    const uint64_t *value = dft_map_find(map, id);

    return value ? (uint32_t)(*value - 1) : 0;
}
/* What tells calls apart in the page: category, name (ids of texts) and class. */
static inline uint64_t dft_report_call_key(uint64_t cat, uint64_t name, unsigned class)
{
    return dft_map_join(dft_map_join(cat, name), class);
}
/* The value of a call. Calls without one of their own have that of their class. */
static inline uint32_t dft_report_call(const struct dft_report *report, uint64_t cat, uint64_t name, unsigned class)
{
    const uint64_t *value = dft_map_find(&report->call_of, dft_report_call_key(cat, name, class));

    return value ? (uint32_t)(*value - 1) : class;
}
/* The value of a region (0: none). */
static inline uint32_t dft_report_region(const struct dft_report *report, uint64_t region)
{
    const uint64_t *value = region ? dft_map_find(&report->region_of, region) : NULL;

    return value ? (uint32_t)(*value - 1) : region ? report->other_region : 0;
}

/* A time as the page has it: ns after the base. */
static inline uint64_t dft_report_after(const struct dft_report *report, uint64_t time_ns)
{
    return time_ns > report->base_ns ? time_ns - report->base_ns : 0;
}

#endif
