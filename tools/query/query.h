/* SPDX-License-Identifier: MIT */
/* Questions about a source: events, grouped by some of their traits, as metrics and percentiles.
 *
 * WHERE THE ANSWER COMES FROM. Call rows (BUCKETS blocks) when they answer exactly; else events, and for what was kept
 * as aggregates only, file rows where these answer, else call rows, else it is left out and the note says how much.
 * Whatever the source, the arithmetic is that of the aggregator's tables: events are put into groups first (each group
 * is a "call" of its own to the table), rows are merged as they are; so the integers are the same.
 *
 * Where all traces are indexed ones of DFTracer, questions by file, dir, pattern or with --file are answered from what all of them did
 * together (index_together.h), if they tell apart no processes, threads or times.
 *
 * TIME GROUPS begin at the origin (dft_source_lives), so that two runs are cut alike. Rows lie on the grid of their
 * intervals: where the width is a multiple of these, the first group begins where the origin's interval does, so that
 * each row lies in one group and rows and events say the same; else it begins at the origin itself, and events answer.
 * Of what was kept as aggregates only, the grid is that of 64 intervals, which histograms and file rows have, where the
 * width is a multiple of that; a width that is a multiple of no interval is rounded up to one, and noted.
 *
 * Call rows do not answer: grouping by file, dir, pattern, stack or line, --file; grouping by a time that is not a multiple of their
 * interval (of 64, when percentiles are wanted and events kept: never); --from or --to off that grid (of 64 intervals,
 * when percentiles are wanted).
 *
 * WHAT COUNTS. The events that aggregator/aggregate.h counts: complete calls and regions, not instants, counters,
 * metadata, nor what was in flight. Grouping by file, dir or pattern leaves out events that have no file. `time` is that of the
 * start.
 *
 * BUSY TIME of a group is the time of its calls; with time as a key, what of it lies in the interval, wherever the calls
 * start, so a group may have a busy time and no calls. busy_union_ns: how long at least one of them was going on, and
 * in_flight_max: how many at most at the same instant, in the interval, if time is a key. (A call is going on in [start,
 * start + duration).) The mean number in flight is busy time by width. Busy time is not known where calls are kept as
 * aggregates and --from or --to cut some off, and when a call spans more than 262,144 intervals.
 *
 * SELF TIME of a group: the sum of its durations, less the durations of all events whose innermost region belongs to
 * the group, that is, has its category and name (as far as these are keys) and is in one of its processes and threads.
 * Those events are subject to --rank, --pid, --from and --to, not to --cat, --name, --file. So it can be below zero,
 * where a region was left open or began before --from. It is known for groups by cat, name, op, class and any key of
 * processes and threads; not with region, file, dir, pattern, stack, line or time. */
#ifndef DFT_QUERY_H
#define DFT_QUERY_H

#include "aggregator/aggregate.h"
#include "source/filter.h"

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
    DFT_BY_COUNT
};

struct dft_query {
    uint8_t by[DFT_BY_COUNT]; /* enum dft_by, each once */
    unsigned nby;
    uint64_t ops;      /* only calls of these operations (1 << enum dft_op); 0: of all */
    uint64_t width_ns; /* of time groups; 0: the interval of the traces' rows (else 1 s) */
    uint64_t base_ns;  /* of an answer by time: where the first group begins, Unix */
    uint64_t grid_ns;  /* of an answer by time: base_ns is the origin of times, rounded down to this; 0: exactly that */
    int percentiles;
    int busy_union; /* wanted, if the answer comes from events */
    int events;     /* events alone are to answer, though rows could: for what only they know */
    int busy;       /* of time groups: what of calls lies in which interval; groups in which none starts come with it */
    int bins;       /* the histograms of durations are wanted too (with percentiles) */
    int bounded;    /* dft_query_run: -E2BIG when groups and histograms take more than 72 MiB */
};

/* What makes a group. Fields that are no key are 0. */
struct dft_group_key {
    uint64_t call;        /* while counting: call id. In an answer: unused */
    uint64_t cat, name;   /* in an answer: ids of the texts */
    uint64_t region;      /* name id, 0 none */
    uint64_t file;        /* name id of the file, of the directory, or of the pattern */
    uint64_t stack, line; /* name ids of their texts; 0 none */
    uint64_t time;        /* number of the interval of width_ns, from base_ns on */
    uint32_t who;         /* number of the combination of process traits + 1 */
    uint32_t tid;
    uint8_t op, class;
    uint8_t pad[6];
};

#define DFT_PERCENTILE_UNKNOWN UINT64_MAX

struct dft_group {
    struct dft_group_key key;
    struct dft_metrics metrics;
    int64_t self_ns;
    uint64_t p50, p95, p99; /* DFT_PERCENTILE_UNKNOWN: not all its calls are in histograms */
    uint64_t busy_union_ns, in_flight_max;
    const struct dft_bin *bins; /* of durations, if asked for */
    uint32_t nbins;
    uint64_t bins_at; /* while counting: their place in those of the answer */
};

enum dft_answer_source { DFT_ANSWER_BUCKETS, DFT_ANSWER_FILES, DFT_ANSWER_EVENTS };

struct dft_pages;
struct dft_spilled_texts;
struct dft_file_facts;
struct dft_answer {
    struct dft_query query; /* with width_ns, base_ns, grid_ns set */
    enum dft_answer_source source;
    int has_percentiles, has_union, has_self, has_busy;
    struct dft_group *groups;
    uint32_t count;
    uint64_t found;       /* groups in all: before dft_answer_sort cut them to the first few, and in all windows */
    uint64_t all_ns;      /* self time (time, where that is not known) of all groups found */
    uint64_t events;      /* that pass the filter, whether or not they belong to a group */
    uint64_t events_kept; /* of these, kept one by one */
    uint64_t unsplit;     /* of these, known only as aggregates, which could not be split as asked: in no group */
    const struct dft_source_process **who; /* one process of each combination */
    struct dft_bin *bins;                  /* of all groups; only dft_query_run keeps them */
    uint64_t nbins;
    struct dft_source *dft_source;
    struct dft_names *texts;      /* of files and regions of these groups, where they are not the source's; or NULL */
    struct dft_file_facts *files; /* what is known of files; or NULL */
    struct dft_spilled_texts *spilled_texts; /* while groups come in batches: those of files; or NULL */
    struct dft_pages *pages;                 /* when there are more groups than these; or NULL */
};

/* query_events.c. Is the event one of those that count? (aggregate.h) */
int dft_event_counts(const struct dft_event *event, uint8_t op);

/* "call,rank": names of keys (`call` is cat and name). Returns 0 or -EINVAL with *wrong: the word. */
int dft_query_parse(struct dft_query *query, const char *by, const char **wrong);

/* The period of rows that another tracer counted; 0: there are none. Collective. */
int dft_query_period(struct dft_source *source, uint64_t *period_ns);

/* How many keys say which file an event belongs to: a group has room for one. */
unsigned dft_query_files(const struct dft_query *query);

/* Answers with all groups, in no order. Returns 0 or -ENOMEM; what could not be read, or answered, is noted at the
 * source. Memory grows with the groups (280 bytes each). Collective; the groups are on rank 0 (comm.h). */
int dft_query_run(struct dft_source *source, const struct dft_filter *filter, const struct dft_query *query,
                  struct dft_answer *answer);
/* The same, a part of the groups at a time, of which each is in one: `take` is called with each (on rank 0; it returns 0
 * or what ends it), and the answer has no groups when it is over. Memory does not grow with the groups. */
int dft_query_each(struct dft_source *source, const struct dft_filter *filter, const struct dft_query *query,
                   int (*take)(void *context, const struct dft_answer *answer), void *context,
                   struct dft_answer *answer);
void dft_answer_fini(struct dft_answer *answer);

/* Which groups come first. */
struct dft_order {
    const char *column; /* as for dft_answer_sort */
    uint64_t top;       /* only the first few; 0: all */
    uint64_t at_once;   /* a window of this many groups is wanted, however large; 0: as fits */
};
/* -EINVAL: the query has no such column. */
int dft_order_check(const struct dft_order *order, const struct dft_query *query);
/* Answers with groups in order, with memory that does not grow with them: when they do not fit, the answer is the first
 * window of them, and dft_answer_next gives the others. Returns 0, -ENOMEM, or -EINVAL: no such column. Collective. */
int dft_query_sorted(struct dft_source *source, const struct dft_filter *filter, const struct dft_query *query,
                     const struct dft_order *order, struct dft_answer *answer);
/* The next groups take the place of those before. Returns 1; 0: there are no more (the last ones stay); or -ENOMEM.
 * Collective. */
int dft_answer_next(struct dft_answer *answer);

/* Sorts by a column, largest first (NULL: time_ns), or by a key, ascending; ties by the keys, ascending. Returns 0, or
 * -EINVAL: no such column. Fetches the texts of all files first when `top` is 0 (keys decide between ties), else only
 * those of groups that may be among the first `top`, and forgets the others. */
int dft_answer_sort(struct dft_answer *answer, const char *column, uint64_t top);

/* --- keys and columns -----------------------------------------------------------------------------------------------
 * */

enum dft_key_type { DFT_KEY_NULL, DFT_KEY_TEXT, DFT_KEY_UINT };
struct dft_key_value {
    enum dft_key_type type;
    struct dft_text text; /* valid as long as source and `room` are */
    uint64_t number;
    char room[24];
};

/* Name of a key as JSON has it: "cat", "t_ns". */
const char *dft_by_name(enum dft_by by);
/* The table that has the text of a file or region of a group. */
const struct dft_names *dft_answer_names(const struct dft_answer *answer, uint64_t id);
/* The value of a key of a group. */
void dft_group_value(const struct dft_answer *answer, const struct dft_group *group, enum dft_by by,
                     struct dft_key_value *value);

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
    DFT_COLUMNS
};
const char *dft_column_name(enum dft_column column);
/* Is it one of those that a sweep over all events in order gives? */
static inline int dft_column_is_swept(int column)
{
    return column == DFT_COLUMN_UNION || column == DFT_COLUMN_IN_FLIGHT;
}
/* Returns 0: it means nothing here (null), 1: *value (only self_ns may be negative). */
int dft_column_value(const struct dft_answer *answer, const struct dft_group *group, enum dft_column column,
                     int64_t *value);

#endif
