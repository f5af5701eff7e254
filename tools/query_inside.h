/* What the files of a query share; private to them. */
#ifndef DFT_QUERY_INSIDE_H
#define DFT_QUERY_INSIDE_H

#include "group_map.h"
#include "query.h"

/* Any interval that is a group's does the same: the interval is in the key. Long enough for few boundaries. */
#define DFT_QUERY_INTERVAL DFT_INTERVAL_NS_MAX
#define DFT_MEMO           4096u

/* What is known of a file id: does it pass, what is it grouped by. */
struct dft_memo {
    uint64_t file, group; /* id of the file; of its directory or pattern */
    uint8_t used, passes;
};

/* Category and name of a call, as keys. */
struct dft_call_texts {
    uint64_t call, cat, name;
};

/* The last group of the rows of a block, by region and subject. */
struct dft_row_memo {
    uint64_t region, subject, time;
    uint32_t number; /* of the group */
    uint32_t block;  /* which block it holds for */
};
#define DFT_ROW_MEMO 256u

/* One thread's part. */
struct dft_counting {
    struct dft_group_map map;     /* of groups */
    struct dft_table *table;      /* call and histogram rows whose subject is the group's number */
    struct dft_group_map parents; /* who, tid, region */
    uint64_t *children_ns;        /* of each parent: time of the events directly inside */
    uint32_t children_capacity;
    uint64_t events, events_kept, unsplit;
    struct dft_memo *memo;
    struct dft_row_memo rows[DFT_ROW_MEMO];
    uint32_t block; /* blocks of rows so far */
    /* Of the batch being counted. */
    struct dft_call *calls; /* groups as calls for the table */
    uint32_t ncalls;
    struct dft_call_group *of_call; /* of each call of the batch: the last group */
    uint32_t of_call_capacity;
    uint32_t *call_slots; /* (group, op) -> position + 1 in calls */
    uint8_t inexact;      /* a row did not fit the question */
    uint8_t batches;      /* events were counted */
    uint8_t unknown;      /* the text of a call that is asked about was not known */
    uint8_t file_rows;
};

struct dft_asking {
    struct dft_source *source;
    struct dft_filter own_filter; /* as given, without times that cut nothing off */
    const struct dft_filter *filter;
    struct dft_query query;
    struct dft_names *names;
    unsigned has; /* mask of 1 << enum dft_by */
    int want_self;
    int rows_only;    /* the answer is tried from rows: a row that does not fit ends it */
    uint32_t *who_of; /* by process number: number of the combination + 1, or 0 */
    const struct dft_source_process **who;
    uint32_t nwho;
    struct dft_counting *workers;
    unsigned nworkers;
    struct dft_call_texts texts[256]; /* the last calls met by dft_final_key */
};

/* A group's number as the subject of a row, and back: ids are never 0. */
#define DFT_SUBJECT(group)    ((uint64_t)(group) + 1)
#define DFT_GROUP(subject)    ((subject)-1)
#define DFT_HAS(asking, by)   ((asking)->has & (1u << (by)))
/* Is it asked about files, which call rows know nothing of? */
#define DFT_HAS_FILES(asking) ((asking)->has & (1u << DFT_BY_FILE | 1u << DFT_BY_DIR | 1u << DFT_BY_PATTERN))
#define DFT_NOT_EXACT         1 /* what ends a visit whose rows do not answer */

/* query_rows.c */
int dft_count_rows(struct dft_asking *asking, struct dft_counting *counting, const struct dft_source_process *process,
                   const struct dft_block *block, struct dft_buckets *buckets);
/* query_events.c */
int dft_count_events(struct dft_asking *asking, struct dft_counting *counting, const struct dft_source_process *process,
                     const struct dft_block *block, struct dft_batch *batch);
/* The key of one event (op and process known); returns 0 when it belongs to no group. */
int dft_event_key(struct dft_asking *asking, struct dft_counting *counting, const struct dft_source_process *process,
                  uint32_t tid, const struct dft_event *event, uint64_t call, uint8_t op, struct dft_group_key *key);
/* Is the event one of those that count? (aggregate.h) */
int dft_event_counts(const struct dft_event *event, uint8_t op);
/* Does a call pass the filter? When its text would decide and is not known, that is remembered. */
int dft_call_passes(struct dft_asking *asking, struct dft_counting *counting, uint64_t call);
int dft_add_child(struct dft_asking *asking, struct dft_counting *counting, uint32_t who, uint32_t tid, uint64_t region,
                  uint64_t dur_ns);
/* query_union.c: busy_union_ns of all groups of an answer; `map` finds the group of a final key. */
int dft_count_union(struct dft_asking *asking, struct dft_answer *answer, const struct dft_group_map *map);
/* query_finish.c: the key of an answer's group from that of a counted one. */
int dft_final_key(struct dft_asking *asking, const struct dft_group_key *counted, struct dft_group_key *final);
/* All that was counted into the answer. */
int dft_query_finish(struct dft_asking *asking, struct dft_answer *answer);

#endif
