/* SPDX-License-Identifier: MIT */
/* The state of one query while it runs: the request, partial results, and the caches of each
 * thread. */
#ifndef DFT_EXECUTION_H
#define DFT_EXECUTION_H

#include <pthread.h>

#include "query/grouper.h"
#include "query/partitions.h"
#include "query/file_facts.h"
#include "query/partial.h"
#include "query/query_types.h"
#include "query/spilled_texts.h"
#include "views/filter.h"

#define DFT_MEMO       4096u
#define DFT_STACK_MEMO 64u

/* What is known of a file id: does it pass, what is it grouped by. */
struct dft_memo {
    uint64_t file, group; /* id of the file; of its directory or pattern */
    uint8_t used, passes;
};

/* The texts of a stack, as far as they are keys. */
struct dft_stack_memo {
    uint64_t stack, folded, line;
};

/* Category and name of a call, as keys. */
struct dft_call_texts {
    uint64_t call, cat, name;
};
#define DFT_CALL_TEXTS 256u /* the last calls */

/* The last group of the rows of a block, by region, subject and op. */
struct dft_row_memo {
    uint64_t region, subject, time;
    uint32_t number; /* of the group */
    uint32_t block;  /* which block it holds for */
    uint32_t facets;
    uint8_t op, io;
};
#define DFT_ROW_MEMO 256u

/* Does a region pass the filter? */
struct dft_region_memo {
    uint64_t region; /* 0: nothing is known */
    uint8_t passes;
};
#define DFT_REGION_MEMO 64u

/* Statistics of what was counted, in a group or not: numbers that add up over threads and ranks. */
struct dft_stats {
    uint64_t events, events_kept, unsplit;
    uint64_t placed_events, placed_rows; /* calls in groups, from events and from rows */
    uint64_t inexact;                    /* a row did not fit the query */
    uint64_t shared;                     /* rows were cut into even shares */
    uint64_t coarse;                     /* the interval of a row of histograms did not: percentiles are not known */
    uint64_t batches;                    /* events were counted */
    uint64_t file_rows;                  /* ... and rows of files */
    uint64_t unknown;                    /* the text of a call that is requested was not known */
    uint64_t busy_unknown;               /* what of some calls lies in which interval is not known */
    uint64_t folded;                     /* calls on files that are known by their directories alone */
    uint64_t undecided;                  /* calls of rows of which only some pass --slower-than */
    uint64_t second_files;               /* events with a second file, when all are requested */
    uint64_t second_hidden;              /* calls of rows that may have one, when files are filtered */
};

/* One thread's part. */
struct dft_worker {
    struct dft_partial partial;
    struct dft_stats stats;
    struct dft_memo *memo;
    struct dft_stack_memo stacks[DFT_STACK_MEMO];
    struct dft_row_memo rows[DFT_ROW_MEMO];
    struct dft_region_memo regions[DFT_REGION_MEMO];
    uint32_t block; /* blocks of rows so far */
    struct dft_grouper grouper;
};

/* What happens to groups that pass the budget. */
enum dft_when_full {
    DFT_FULL_SPILLS, /* they go into the spill file */
    DFT_FULL_ENDS,   /* DFT_TOO_MANY ends the counting */
    DFT_FULL_STAYS   /* nothing */
};

struct dft_execution {
    struct dft_source *source;
    struct dft_filter own_filter; /* as passed, without times that cut nothing off */
    const struct dft_filter *filter;
    struct dft_query query;
    struct dft_names *names;
    struct dft_file_facts *files; /* the answer's */
    unsigned has;                 /* mask of 1 << enum dft_by */
    uint32_t facets;              /* mask of those that are keys */
    int want_self;
    int picks;                  /* the filter asks about durations or facets of single events */
    int wants_calls;            /* the texts of calls matter: they are keys, or filtered */
    int want_busy;              /* of intervals: there are time groups */
    int want_patterns;          /* of groups by file */
    int all_events;             /* those without a file are in groups, too */
    int may_fold;               /* rows may say of files no more than their directory */
    int rows_only;              /* the answer is tried from rows */
    int not_exact;              /* ... of which one did not fit */
    uint32_t *process_group_of; /* by process number: number of the combination + 1, or 0 */
    const struct dft_source_process **process_group;
    uint32_t nprocess_groups;
    struct dft_worker *workers;
    unsigned nworkers;
    struct dft_call_texts texts[DFT_CALL_TEXTS]; /* of dft_final_key */
    int histograms;                              /* are kept */
    int in_memory;                               /* groups must not go into the spill file */
    int in_parts;                                /* dft_order.in_parts */
    size_t budget, share; /* bytes for all groups, and for those that one thread has not merged yet */
    enum dft_when_full when_full;
    /* spill.c */
    struct dft_spill_file file;
    struct dft_partitions partitions;
    struct dft_group_map unknown_calls; /* whose texts decide which groups they belong to */
    uint32_t batch, next_partition;     /* the batch is of partitions from `batch` to before the next */
    int spilled;                        /* the groups come in batches */
    int given;                          /* else: they have come */
    pthread_mutex_t lock;
    struct dft_partial total;
    struct dft_stats stats;
};

#define DFT_HAS(execution, by)    ((execution)->has & (1u << (by)))
/* Is it about files, which call rows know nothing of? */
#define DFT_HAS_STACKS(execution) ((execution)->has & (1u << DFT_BY_STACK | 1u << DFT_BY_LINE))
#define DFT_HAS_FILES(execution)  ((execution)->has & DFT_BY_FILES)
/* What ends a visit: rows do not answer; the groups do not fit. */
#define DFT_NOT_EXACT             1
#define DFT_TOO_MANY              2

/* Places of the facets in the number of dft_facets_of. */
#define DFT_FACETS_ERR    UINT32_C(0xffff)
#define DFT_FACETS_SIZE   UINT32_C(0xf0000)
#define DFT_FACETS_ACCESS UINT32_C(0x700000)

/* The time group that a time lies in. */
static inline uint64_t dft_slot_of(const struct dft_execution *execution, uint64_t time_ns)
{
    return time_ns > execution->query.base_ns ? (time_ns - execution->query.base_ns) / execution->query.width_ns : 0;
}

/* Ready to count, but for what the plan decides: source, filter and query as passed. Returns 0 or
 * -ENOMEM. */
int dft_execution_create(struct dft_execution **execution, struct dft_source *source, const struct dft_filter *filter,
                         const struct dft_query *query);
void dft_execution_destroy(struct dft_execution *execution);

#endif
