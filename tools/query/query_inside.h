/* SPDX-License-Identifier: MIT */
/* What the files of a query share; private to them. */
#ifndef DFT_QUERY_INSIDE_H
#define DFT_QUERY_INSIDE_H

#include <pthread.h>

#include "query/partitions.h"
#include "query/query.h"
#include "query/query_files.h"
#include "query/query_tally.h"
#include "query/spilled_texts.h"

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
#define DFT_CALL_TEXTS 256u /* the last calls met */

/* The last group of the rows of a block, by region, subject and op. */
struct dft_row_memo {
    uint64_t region, subject, time;
    uint32_t number; /* of the group */
    uint32_t block;  /* which block it holds for */
    uint8_t op;
};
#define DFT_ROW_MEMO 256u
#define DFT_NO_GROUP UINT32_MAX

/* What was met while counting, whether or not it belonged to a group: numbers that add up over threads and ranks. */
struct dft_met {
    uint64_t events, events_kept, unsplit;
    uint64_t inexact;      /* a row did not fit the question */
    int shared;            /* rows were cut into even shares */
    uint64_t coarse;       /* the interval of a row of histograms did not: percentiles are not known */
    uint64_t batches;      /* events were counted */
    uint64_t file_rows;    /* ... and rows of files */
    uint64_t unknown;      /* the text of a call that is asked about was not known */
    uint64_t busy_unknown; /* what of some calls lies in which interval is not known */
    uint64_t second_files; /* events with a second file, when all are asked about */
};

/* The last group of what looks alike in a batch; query_events.c. */
struct dft_placed {
    uint64_t file, stack, region, time;
    uint64_t batch;    /* which batch it holds for */
    uint32_t call;     /* of the batch */
    uint32_t position; /* of the group among the calls for the table; DFT_NO_GROUP: there is none */
};
#define DFT_PLACED 1024u

/* The batch being counted: its groups as calls for the table, and the events that belong to one; query_batch.c. */
struct dft_placing {
    struct dft_call *calls;
    uint32_t ncalls;
    uint32_t *slots;  /* (group, op) -> position + 1 in calls */
    uint32_t *counts; /* of each call: events; then where those that come next go */
    uint32_t *listed; /* the events */
    uint32_t *order;  /* the events, those of one call together */
    uint32_t nlisted, capacity;
    struct dft_placed *placed;
    uint64_t batch;
};

/* One thread's part. */
struct dft_counting {
    struct dft_tally tally;
    struct dft_met met;
    struct dft_memo *memo;
    struct dft_stack_memo stacks[DFT_STACK_MEMO];
    struct dft_row_memo rows[DFT_ROW_MEMO];
    uint32_t block; /* blocks of rows so far */
    struct dft_placing placing;
};

/* What happens to groups that pass the budget. */
enum dft_when_full {
    DFT_FULL_SPILLS, /* they go into the spill file */
    DFT_FULL_ENDS,   /* DFT_TOO_MANY ends the counting */
    DFT_FULL_STAYS   /* nothing */
};

struct dft_together;
struct dft_asking {
    struct dft_source *source;
    struct dft_filter own_filter; /* as given, without times that cut nothing off */
    const struct dft_filter *filter;
    struct dft_query query;
    struct dft_names *names;
    struct dft_file_facts *files; /* the answer's */
    unsigned has;                 /* mask of 1 << enum dft_by */
    int want_self;
    int wants_calls;                     /* the texts of calls matter: they are keys, or filtered */
    int want_busy;                       /* of intervals: there are time groups */
    int all_events;                      /* those without a file are in groups, too */
    const struct dft_together *together; /* answers, or NULL */
    int rows_only;                       /* the answer is tried from rows: a row that does not fit ends it */
    uint32_t *who_of;                    /* by process number: number of the combination + 1, or 0 */
    const struct dft_source_process **who;
    uint32_t nwho;
    struct dft_counting *workers;
    unsigned nworkers;
    struct dft_call_texts texts[DFT_CALL_TEXTS]; /* of dft_final_key */
    int histograms;                              /* are kept */
    int in_memory;                               /* groups must not go into the spill file */
    size_t budget, share; /* bytes for all groups, and for those that one thread has not handed over yet */
    enum dft_when_full when_full;
    /* query_spill.c */
    struct dft_spill_file file;
    struct dft_partitions partitions;
    struct dft_group_map unknown_calls; /* whose texts decide which groups they belong to */
    uint32_t batch, next_partition;     /* the batch is of partitions from `batch` to before the next */
    int spilled;                        /* the groups come in batches */
    int given;                          /* else: they have come */
    pthread_mutex_t lock;
    struct dft_tally total;
    struct dft_met met;
};

#define DFT_HAS(asking, by)    ((asking)->has & (1u << (by)))
/* Is it asked about files, which call rows know nothing of? */
#define DFT_HAS_STACKS(asking) ((asking)->has & (1u << DFT_BY_STACK | 1u << DFT_BY_LINE))
#define DFT_HAS_FILES(asking)  ((asking)->has & (1u << DFT_BY_FILE | 1u << DFT_BY_DIR | 1u << DFT_BY_PATTERN))
/* What ends a visit: rows do not answer; the groups do not fit. */
#define DFT_NOT_EXACT          1
#define DFT_TOO_MANY           2

/* query_times.c: width, base and grid of time groups, if there are some. Collective; returns 0 or -ENOMEM. */
int dft_choose_times(struct dft_asking *asking);
/* The time group that a time lies in. */
static inline uint64_t dft_slot_of(const struct dft_asking *asking, uint64_t time_ns)
{
    return time_ns > asking->query.base_ns ? (time_ns - asking->query.base_ns) / asking->query.width_ns : 0;
}

/* query_rows.c */
int dft_count_rows(struct dft_asking *asking, struct dft_counting *counting, const struct dft_source_process *process,
                   const struct dft_block *block, struct dft_buckets *buckets);
/* query_events.c */
int dft_count_events(struct dft_asking *asking, struct dft_counting *counting, const struct dft_source_process *process,
                     const struct dft_block *block, struct dft_batch *batch);
/* query_batch.c. Ready for a batch of so many events; anew within it, when positions are used up. 0 or -ENOMEM. */
int dft_placing_reserve(struct dft_placing *placing, uint32_t events);
void dft_placing_begin(struct dft_placing *placing);
void dft_placing_fini(struct dft_placing *placing);
/* Position of (group, op) among the calls for the table; -EAGAIN: there are too many, flush and begin anew. */
int dft_placing_call(struct dft_placing *placing, uint32_t group, uint8_t op, uint32_t *position);
/* Adds the events listed (their calls are positions now) to the table. 0 or -ENOMEM. */
int dft_placing_flush(struct dft_placing *placing, const struct dft_batch *batch, struct dft_table *table);
/* The key of one event (op and process known); returns 0 when it belongs to no group. */
int dft_event_key(struct dft_asking *asking, struct dft_counting *counting, const struct dft_source_process *process,
                  uint32_t tid, const struct dft_event *event, uint64_t call, uint8_t op, struct dft_group_key *key);
/* Is one of its files asked about? */
int dft_event_file_passes(struct dft_asking *asking, struct dft_counting *counting, const struct dft_event *event);
/* Does a call pass the filter? When its text would decide and is not known, that is remembered. */
int dft_call_passes(struct dft_asking *asking, struct dft_counting *counting, uint64_t call, uint8_t op);
int dft_add_child(struct dft_asking *asking, struct dft_counting *counting, uint32_t who, uint32_t tid, uint64_t region,
                  uint64_t dur_ns);
/* The counted key of the group that a parent (who, tid, region) belongs to. */
struct dft_group_key dft_parent_group(const struct dft_asking *asking, const struct dft_group_key *parent);
/* query_spread.c: time of an event that ends in another interval than it starts in, and of a row that has steps (taken from
 * it); of time groups, whose key is `key` but for the time. Return 0, -errno, DFT_NOT_EXACT. */
int dft_spread_event(struct dft_asking *asking, struct dft_counting *counting, const struct dft_group_key *key,
                     uint8_t op, uint64_t start_ns, uint64_t dur_ns);
int dft_spread_row(struct dft_asking *asking, struct dft_counting *counting, const struct dft_group_key *key,
                   struct dft_row *row, uint64_t start_ns);
/* query_union.c: busy_union_ns of all groups of the answer. Collective. */
int dft_count_union(struct dft_asking *asking, struct dft_answer *answer);
/* query_who.c: numbers the combinations of those traits of processes that are keys: sets who_of and who. Returns 0 or -ENOMEM. */
int dft_number_processes(struct dft_asking *asking);
/* query_together.c: sets asking->together where what all traces did together answers (and is made, where it is not there); counts it, in
 * place of blocks. Return 0, or what dft_merge_partial returns. */
int dft_together_begin(struct dft_asking *asking);
int dft_count_together(struct dft_asking *asking, struct dft_counting *counting);
/* query_finish.c: the key of an answer's group from that of a counted one (a final one stays as it is). */
int dft_final_key(struct dft_asking *asking, const struct dft_group_key *counted, struct dft_group_key *final);
/* What was counted, on rank 0, into groups of the answer, behind those that are there; nothing is left of it. */
int dft_query_finish(struct dft_asking *asking, struct dft_answer *answer);

/* query_pass.c: counts all groups. Returns 0, DFT_TOO_MANY (only where they must stay in memory) or -errno. Collective. */
int dft_count(struct dft_asking *asking);
/* The next groups that were counted into asking->total, on rank 0: all, or a batch of them where they do not fit. Returns
 * 1, 0: all have come, or -errno. Collective. */
int dft_next_groups(struct dft_asking *asking);
/* Merges the totals of all ranks on rank 0. Collective. */
int dft_reduce_total(struct dft_asking *asking);
/* Are the groups in memory more than the budget? Does what asking->when_full says. 0, DFT_TOO_MANY or -errno. */
int dft_check_budget(struct dft_asking *asking);
/* Hands over what a thread has counted when that is much. Groups have other numbers then. 0, DFT_TOO_MANY or -errno. */
int dft_merge_partial(struct dft_asking *asking, struct dft_counting *counting);
/* query_spill.c: moves asking->total into the spill file; the same, and all ranks are ready for batches (collective);
 * the next batch, as dft_next_groups has it; forgets all. */
int dft_spill_total(struct dft_asking *asking);
int dft_spill_end(struct dft_asking *asking);
int dft_next_batch(struct dft_asking *asking);
void dft_spill_clear(struct dft_asking *asking);
/* The error of a spill file: notes what to do about it, and returns it. */
int dft_spill_failed(struct dft_asking *asking, int rc);
/* answer_pages.c: the first groups in order, when they do not fit at once. The asking is the answer's then; dft_pages_end
 * (also without pages) ends it. */
int dft_pages_begin(struct dft_asking *asking, const struct dft_order *order, struct dft_answer *answer);
void dft_pages_end(struct dft_answer *answer);
/* query_columns.c: orders. */
struct dft_sorting {
    const struct dft_answer *answer;
    int column;    /* enum dft_column, or -1 */
    int key;       /* enum dft_by, or -1 */
    int with_keys; /* ties by keys, and order by a key */
};
int dft_order_find(const struct dft_answer *answer, const char *column, struct dft_sorting *sorting);
int dft_group_compare(const void *left, const void *right, void *sorting);
/* query_columns.c: texts of files and regions of these groups. Collective. */
int dft_answer_texts(const struct dft_answer *answer, struct dft_names *into, const struct dft_group *groups,
                     uint32_t count);
/* query.c: ready to count all events of a source, those without a file too, for dft_count. Of the asking dft_asking_end takes care. */
int dft_asking_begin_all(struct dft_asking **asking, struct dft_source *source, const struct dft_filter *filter,
                         const struct dft_query *query);
void dft_answer_describe(struct dft_asking *asking, struct dft_answer *answer);
void dft_asking_end(struct dft_asking *asking);

#endif
