/* SPDX-License-Identifier: MIT */
/* Buckets: add events, merge rows; the only arithmetic on them, used in the traced process and off
 * line.
 *
 * A table maps (kind, interval, region, subject, facets) to a row. Two kinds of table: a fixed one
 * in memory that the caller provides (in the traced process: no allocation, refuses when full), and
 * a growing one on the heap (in tools). Not shared between threads: one table, one thread at a
 * time; tables are merged afterwards. The law: any split of a set of events over tables, merged in
 * any order, gives the same rows.
 *
 * WHAT AN EVENT ADDS
 *   Which events: phase COMPLETE of an op of class META, READ, WRITE or NONE; and phase BEGIN of the ops EXEC (it did
 *   not return) and FORK (vfork, whose return cannot be timed), with duration 0. Not those with DFT_BIT_OPEN: how
 *   long they took is unknown.
 *   A run of calls kept as one event (calls > 1) is one sample: it counts `calls` calls (and `calls` errors), but one
 *   duration (of the whole run), one size (all its bytes), one data access. calls = 0 is the other half of a call
 *   that was counted with its first event (a copy between two files): its bytes, size, offset and first and last
 *   times alone.
 *   Errors are events with err != 0. Data, bytes, sizes, bytes requested, offsets, sequential, consecutive and turns
 *   are of events of class READ or WRITE with err == 0, zero bytes included. Asked for is the event's `size` (a run
 *   of calls: of the whole run). An offset counts where 0 <= offset < INT64_MAX; the end of an access is cut at
 *   INT64_MAX. A duration that passes the end of 64-bit time is cut there. Sequential: events with
 *   DFT_BIT_SEQUENTIAL; consecutive: those that have DFT_BIT_CONSECUTIVE, too; turns: those with DFT_BIT_TURN.
 *   Call row: interval floor(start / W) of the event's region, call, op and facets: the call's class (struct
 *   dft_call), and size class, access and errno (dft_event_facets). Histogram row: the same key, interval floor(start
 *   / 64 W), with the event's duration, bytes moved and bytes requested. File row: interval floor(start / 64 W),
 *   region, file (not file2), class of the op (META for NONE: an exec's file is looked at) and class of the call; none
 *   for events without a file.
 *   Busy time: the event covers [start, start + duration). In its first and last interval `edge` gets what lies
 *   there; where whole intervals lie between, `step` goes up by 1 in the first of them and down by 1 in the last
 *   interval. So the rows of one key know busy(k) = edge(k) + W * (sum of steps up to k) exactly, and all busy(k) add
 *   up to the sum of durations. (File rows: 64 W instead of W.)
 *   Occupancy: in the rows where `edge` lies, the bits of the 64ths that the event covers there are set: bit i of
 *   floor(64 t / W) = i, t being ns from the interval's begin. An event without duration sets the bit of its start.
 *   Where `step` says that some event covers the whole interval, all 64 are covered, whatever the bits are. So which
 *   64ths of time are covered by some event of several rows is known, to 1/64 of an interval: at most so much time.
 *   Touched: a file row has a pattern once an access of class READ or WRITE with an offset has moved bytes: the parts
 *   of [offset, end) are set. Strides are not in events: who sees calls adds them (pattern.h). */
#ifndef DFT_AGGREGATE_H
#define DFT_AGGREGATE_H

#include <stddef.h>

#include "format/row.h"
#include "aggregator/histogram.h"

struct dft_batch;

struct dft_table;

/* What to keep: a mask. Call rows are always kept, for each op and all facets of a call one. With
 * DFT_MIX_OPS all of them share a row, whose op and facets are 0: for tables whose calls are groups
 * of events. */
enum { DFT_KEEP_HISTOGRAMS = 1, DFT_KEEP_FILES = 2, DFT_MIX_OPS = 4 };

#define DFT_TABLE_ROWS_MIN  16u        /* a fixed table takes at least one event, or one row, whatever it is */
#define DFT_TABLE_ROWS_MAX  (1u << 20) /* of a fixed table */
#define DFT_INTERVAL_NS_MAX DFT_ROW_INTERVAL_MAX

/* A fixed table for at most `rows` rows of any kind, in caller's zeroed memory (aligned to 64,
 * dft_table_bytes(rows) long; pages that few rows do not need are not touched). `rows` is brought
 * into the limits above. NULL: interval_ns is 0 or over its limit. */
size_t dft_table_bytes(uint32_t rows);
struct dft_table *dft_table_init(void *memory, uint32_t rows, uint64_t interval_ns, unsigned keep);

/* A growing table. NULL: no memory, or an interval as above. */
struct dft_table *dft_table_create(uint64_t interval_ns, unsigned keep);
void dft_table_destroy(struct dft_table *);

/* Adds the events of a batch (those that are aggregated), from event *position on, and sets
 * *position to the number done. Returns 0, or -ENOSPC when a fixed table may not be able to take
 * the next event whole (flush it, clear it, go on at *position: a table just cleared takes any
 * event), or -ENOMEM. An event is added whole or not at all. */
int dft_table_add(struct dft_table *, const struct dft_batch *batch, uint32_t *position);

/* Adds the `count` events of a batch whose positions `order` holds, to a growing table. Fastest
 * when those of one call and region follow each other: they are summed up aside, and their row is
 * found once. Returns 0 or -ENOMEM. */
int dft_table_add_ordered(struct dft_table *, const struct dft_batch *batch, const uint32_t *order, uint32_t count);

/* Merges one row of the table's own interval. Rows of files merge their patterns; those of touched
 * parts as exactly as all else, strides about (pattern.h). Who does not ask for a facet may set it
 * to 0 in the row before. Returns 0, -ENOSPC, -ENOMEM, or -EINVAL (unknown
 * kind, bin out of range). On an error the table is as before. */
int dft_table_merge(struct dft_table *, const struct dft_row *row);

/* Merges rows from number *position on and sets *position behind those that were merged: at
 * `count`, or at the first that could not be, with what dft_table_merge says of it. Several times
 * as fast as one by one where there are many different rows. */
int dft_table_merge_rows(struct dft_table *, const struct dft_row *rows, uint32_t count, uint32_t *position);

/* Merges one row of a finer grid: the table's interval is `factor` times the row's. Counts, sums
 * and busy(k) come out as if the events had been added to this table; edge and step alone may lie
 * otherwise between rows (compare busy times). For a factor above 1 the row adds nothing to
 * `occupancy`, which is then 0, unknown: where steps lie, parts between would be missing. Returns as
 * dft_table_merge, and -EINVAL for factor 0. */
int dft_table_merge_finer(struct dft_table *, const struct dft_row *row, uint64_t factor);

/* Forgets all rows, in time proportional to their number. */
void dft_table_clear(struct dft_table *);

/* Rows in it: nothing to flush when 0. */
uint32_t dft_table_count(const struct dft_table *);

/* Bytes that its rows and histograms take, with the lists of bins that dft_table_rows makes of
 * them. Cheap. */
size_t dft_table_used(const struct dft_table *);

/* The rows, sorted by kind, interval, region, subject, class, op and facets: *rows and *count are valid until the
 * table changes. Histogram rows point into the table; their metrics are those of an empty row.
 * Returns 0, or -ENOMEM (growing tables). */
int dft_table_rows(struct dft_table *, struct dft_row **rows, uint32_t *count);
/* The same in no order, for who merges them: of many rows the sort is most of the work. */
int dft_table_rows_unsorted(struct dft_table *, struct dft_row **rows, uint32_t *count);

/* Order of rows by key: negative, 0, positive. */
int dft_row_compare(const struct dft_row *a, const struct dft_row *b);

/* Merge of metrics: the whole arithmetic of rows in one place. A cleared one is the neutral
 * element. */
void dft_metrics_clear(struct dft_metrics *);
void dft_metrics_merge(struct dft_metrics *into, const struct dft_metrics *from);

/* Percentile p (0 < p <= 100, taken to the nearest millionth) of a histogram; 0 when it is
 * empty. */
uint64_t dft_percentile(const struct dft_bin *bins, uint32_t count, double p, uint64_t min, uint64_t max);

#endif
