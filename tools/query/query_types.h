/* SPDX-License-Identifier: MIT */
/* What a query and an answer consist of. */
#ifndef DFT_QUERY_TYPES_H
#define DFT_QUERY_TYPES_H

#include "aggregator/aggregate.h"
#include "format/text.h"
#include "format/io.h"

struct dft_source;
struct dft_source_process;
struct dft_names;

enum dft_by {
    DFT_BY_CAT,
    DFT_BY_NAME,
    DFT_BY_REGION,
    DFT_BY_FILE,
    DFT_BY_DIR,
    DFT_BY_RANK,
    DFT_BY_PID,
    DFT_BY_HOST,
    DFT_BY_TID,
    DFT_BY_PROCESS, /* process key */
    DFT_BY_PROGRAM, /* last part of the executable's path */
    DFT_BY_TIME,
    DFT_BY_OP,
    DFT_BY_CLASS,
    DFT_BY_PATTERN, /* of the file: pattern.h */
    DFT_BY_STACK,   /* functions of the call stack: stacks.h */
    DFT_BY_LINE,    /* source line that called */
    DFT_BY_RUN,     /* as dft_source_runs has them */
    DFT_BY_EXT,     /* extension of the file, mount point: file_groups.h */
    DFT_BY_MOUNT,
    DFT_BY_ROLE, /* of the process */
    DFT_BY_SIZE, /* facets of the call: format/facets.h */
    DFT_BY_ACCESS,
    DFT_BY_ERRNO,
    DFT_BY_JOB, /* of the process: as dft_source_jobs has them */
    DFT_BY_COUNT
};

/* The keys that put files together, and all keys that tell files apart. */
#define DFT_BY_FILE_GROUPS (1u << DFT_BY_DIR | 1u << DFT_BY_PATTERN | 1u << DFT_BY_EXT | 1u << DFT_BY_MOUNT)
#define DFT_BY_FILES       (DFT_BY_FILE_GROUPS | 1u << DFT_BY_FILE)

struct dft_query {
    uint8_t by[DFT_BY_COUNT]; /* enum dft_by, each once */
    unsigned nby;
    unsigned depth;     /* of directories: at most so many components; 0: all */
    uint64_t ops;       /* only calls of these operations (1 << enum dft_op); 0: of all */
    unsigned classes;   /* only calls of these classes (1 << enum dft_io); 0: of all */
    uint64_t width_ns;  /* of time groups; 0: the interval of the traces' rows (else 1 s) */
    uint64_t base_ns;   /* of an answer by time: where the first group begins, Unix */
    uint64_t origin_ns; /* of an answer by time: where times count from, Unix */
    uint64_t grid_ns; /* of an answer by time: base_ns is the origin of times, rounded down to this; 0: exactly that */
    int percentiles;
    int busy_union; /* wanted, if the answer comes from events */
    int events;     /* events alone are to answer, though rows could: for what only they know */
    int busy;       /* of time groups: what of calls lies in which interval; groups in which none starts come with it */
    int accesses;   /* strided and random accesses are wanted */
    int patterns;   /* of groups by file: how many different bytes were accessed, and strides */
    int bins;       /* the histograms of durations are wanted too (with percentiles) */
    int members;    /* how many processes made the calls, the most common size, and the time in I/O */
    int bounded;    /* dft_query_run: -E2BIG when groups and histograms take more than 72 MiB */
};

/* What makes a group. Fields that are no key are 0. */
struct dft_group_key {
    uint64_t call;          /* while counting: call id. In an answer: unused */
    uint64_t cat, name;     /* in an answer: ids of the texts */
    uint64_t region;        /* name id, 0 none */
    uint64_t file;          /* name id of the file, or of what files are put together by */
    uint64_t stack, line;   /* name ids of their texts; 0 none */
    uint64_t time;          /* number of the interval of width_ns, from base_ns on */
    uint32_t process_group; /* number of the combination of process traits + 1 */
    uint32_t tid;
    uint8_t op, class; /* enum dft_op, enum dft_io */
    uint8_t pad[2];
    uint32_t facets; /* those that are keys, as dft_facets_of has them */
};

#define DFT_PERCENTILE_UNKNOWN UINT64_MAX

struct dft_group {
    struct dft_group_key key;
    struct dft_metrics metrics;
    int64_t self_ns;
    uint64_t p50, p95, p99; /* DFT_PERCENTILE_UNKNOWN: not all its calls are in histograms */
    uint64_t busy_union_ns, in_flight_max;
    uint64_t has_distinct, has_strides; /* the next ones are known */
    uint64_t distinct_bytes;            /* at most: pattern.h */
    uint64_t processes;                 /* that made its calls; 0: not known */
    uint64_t io_ns;                     /* of its calls that are I/O (dft_is_io); where members were requested */
    uint64_t common_size, common_calls; /* the size class that most calls requested, and their number; 0: not known */
    struct dft_stride strides[2];
    const struct dft_bin *bins; /* of durations, if requested */
    uint32_t nbins;
    uint64_t bins_at; /* while counting: their place in those of the answer */
};

/* Sums over all groups found, also those that were cut. */
struct dft_totals {
    uint64_t count, errors, time_ns, bytes;
};

enum dft_answer_source { DFT_ANSWER_BUCKETS, DFT_ANSWER_FILES, DFT_ANSWER_EVENTS };

struct dft_pages;
struct dft_spilled_texts;
struct dft_file_facts;
struct dft_answer {
    struct dft_query query; /* with width_ns, base_ns, grid_ns set */
    enum dft_answer_source source;
    int has_percentiles, has_union, has_self, has_busy, has_accesses;
    struct dft_group *groups;
    uint32_t count;
    uint64_t found; /* groups in all: before dft_answer_sort cut them to the first few, and in all pages */
    struct dft_totals all;
    uint64_t all_ns;        /* self time (time, where that is not known) of all groups found */
    uint64_t events;        /* that pass the filter, whether or not they belong to a group */
    uint64_t events_kept;   /* of these, kept one by one */
    uint64_t placed_rows;   /* calls in groups that rows answered */
    uint64_t placed_events; /* ... and that events did */
    uint64_t unsplit;       /* of these, known only as aggregates, which could not be split as requested: in no group */
    const struct dft_source_process **process_group; /* one process of each combination */
    struct dft_bin *bins;                            /* of all groups; only dft_query_run keeps them */
    uint64_t nbins;
    const char *sorted; /* the requested column to sort by; NULL: none was */
    struct dft_source *dft_source;
    struct dft_names *texts;      /* of files and regions of these groups, where they are not the source's; or NULL */
    struct dft_file_facts *files; /* what is known of files; or NULL */
    struct dft_spilled_texts *spilled_texts; /* while groups come in batches: those of files; or NULL */
    struct dft_pages *pages;                 /* when there are more groups than these; or NULL */
};

/* Which groups come first. */
struct dft_order {
    const char *column; /* as for dft_answer_sort */
    uint64_t top;       /* only the first few; 0: all */
    uint64_t at_once;   /* a page of this many groups is wanted, however large; 0: as fits */
    int in_parts;       /* in no order: dft_answer_each gives all groups, as they fit into memory,
                         * those of a file together */
};
enum dft_key_type { DFT_KEY_NULL, DFT_KEY_TEXT, DFT_KEY_UINT };
struct dft_key_value {
    enum dft_key_type type;
    struct dft_text text; /* valid as long as source and `buffer` are */
    uint64_t number;
    char buffer[24];
};

/* The numbers of a group, in the order of JSON: "count", "errors" ... */
enum dft_column {
    DFT_COLUMN_COUNT,
    DFT_COLUMN_ERRORS,
    DFT_COLUMN_TIME,
    DFT_COLUMN_SELF,
    DFT_COLUMN_TIME_MIN,
    DFT_COLUMN_TIME_MAX,
    DFT_COLUMN_P50,
    DFT_COLUMN_P95,
    DFT_COLUMN_P99,
    DFT_COLUMN_BUSY,
    DFT_COLUMN_UNION,
    DFT_COLUMN_IN_FLIGHT,
    DFT_COLUMN_BYTES,
    DFT_COLUMN_SIZE_MIN,
    DFT_COLUMN_SIZE_MAX,
    DFT_COLUMN_OFFSET_MIN,
    DFT_COLUMN_OFFSET_MAX,
    DFT_COLUMN_ASKED,
    DFT_COLUMN_TURNS,
    DFT_COLUMN_CONSECUTIVE,
    DFT_COLUMN_SEQUENTIAL,
    DFT_COLUMN_STRIDED,
    DFT_COLUMN_RANDOM,
    DFT_COLUMN_FIRST,
    DFT_COLUMN_LAST,
    DFT_COLUMN_DISTINCT,
    DFT_COLUMN_PROCESSES,
    DFT_COLUMN_COMMON, /* the least size of its class */
    DFT_COLUMN_IO,
    DFT_COLUMNS,
    /* Not in JSON: what is made of these. Groups are sorted by them. */
    DFT_COLUMN_MEAN = DFT_COLUMNS, /* time of an event */
    DFT_COLUMN_SHARE,              /* self time, or time where that is not known */
    DFT_COLUMN_A_CALL,             /* bytes a call that moved some */
    DFT_COLUMN_RATE,               /* bytes a second of their time */
    DFT_COLUMN_AGAIN,              /* bytes by distinct ones, in hundredths */
    DFT_COLUMNS_ALL
};
#endif
