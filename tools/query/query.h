/* SPDX-License-Identifier: MIT */
/* Queries about a source: events, grouped by some of their traits, as metrics and percentiles.
 *
 * WHERE THE ANSWER COMES FROM. Call rows (BUCKETS blocks) when they answer exactly; else events,
 * and for what was kept as aggregates only, file rows where these answer, else call rows, else it
 * is left out and the note says how much. Whatever the source, the arithmetic is that of the
 * aggregator's tables: events are put into groups first (each group is a "call" of its own to the
 * table), rows are merged as they are; so the integers are the same.
 *
 * TIME GROUPS begin at the origin (dft_source_lives), so that two runs are cut alike. Rows lie on the grid of their
 * intervals: where the width is a multiple of these, the first group begins where the origin's interval does, so that
 * each row lies in one group and rows and events say the same; else it begins at the origin itself, and events answer.
 * For what was kept as aggregates only, the grid is that of 64 intervals, which histograms and file rows have, where
 * the width is a multiple of that; a width that is a multiple of no interval is rounded up to one, and noted.
 *
 * Call rows do not answer: grouping by file, dir, pattern, stack or line, --file; grouping by a
 * time that is not a multiple of their interval (of 64, when percentiles are wanted and events
 * kept: never); --from or --to off that grid (of 64 intervals, when percentiles are wanted).
 *
 * WHAT COUNTS. The events that aggregator/aggregate.h counts: complete calls and regions, not
 * instants, counters, metadata, nor what was in flight. Grouping by file, dir or pattern leaves
 * out events that have no file. `time` is that of the start.
 *
 * BUSY TIME of a group is the time of its calls; with time as a key, what of it lies in the
 * interval, wherever the calls start, so a group may have a busy time and no calls. busy_union_ns:
 * how long at least one of them was going on, and in_flight_max: how many at most at the same
 * instant, in the interval, if time is a key. (A call is going on in [start, start + duration).)
 * The mean number in flight is busy time by width. Busy time is not known where calls are kept as
 * aggregates and --from or --to cut some off, and when a call spans more than 262,144 intervals.
 *
 * SELF TIME of a group: the sum of its durations, less the durations of all events whose innermost
 * region belongs to the group, that is, has its category and name (as far as these are keys) and
 * is in one of its processes and threads. Those events are subject to --rank, --pid, --from and
 * --to, not to --cat, --name, --file. So it can be below zero, where a region was left open or
 * began before --from. It is known for groups by cat, name, op, class and any key of processes and
 * threads (of these alone only where the classes queried have regions); not with region,
 * file, dir, pattern, stack, line or time. */
#ifndef DFT_QUERY_H
#define DFT_QUERY_H

#include "query/query_types.h"

struct dft_filter;

/* Answers with all groups, in no order. Returns 0 or -ENOMEM; what could not be read, or answered,
 * is noted at the source. Memory grows with the groups (280 bytes each). Collective; the groups
 * are on rank 0 (comm.h). */
int dft_query_run(struct dft_source *source, const struct dft_filter *filter, const struct dft_query *query,
                  struct dft_answer *answer);
/* The same, a part of the groups at a time, of which each is in one: `take` is called with each
 * (on rank 0; it returns 0 or what ends it), and the answer has no groups when it is over. Memory
 * does not grow with the groups. */
int dft_query_each(struct dft_source *source, const struct dft_filter *filter, const struct dft_query *query,
                   int (*take)(void *context, const struct dft_answer *answer), void *context,
                   struct dft_answer *answer);
/* Answers with groups in order, with memory that does not grow with them: when they do not fit,
 * the answer is the first page of them, and dft_answer_next gives the others. Returns 0, -ENOMEM,
 * or -EINVAL: no such column. Collective. */
int dft_query_sorted(struct dft_source *source, const struct dft_filter *filter, const struct dft_query *query,
                     const struct dft_order *order, struct dft_answer *answer);

/* The same of some queries at once, at most DFT_QUERIES_MAX: blocks are read once for all of
 * them. They share the memory of one. On an error there is no answer. */
struct dft_query_request {
    struct dft_query query;
    struct dft_order order;
    struct dft_answer *answer;
};
int dft_query_many(struct dft_source *source, const struct dft_filter *filter, const struct dft_query_request *requests,
                   unsigned count);

#endif
