/* Buckets: add events, merge rows; the only arithmetic on them, used in the traced process and off line.
 *
 * A table maps (kind, interval, region, subject, class) to a row. Two kinds of table: a fixed one in memory that the caller provides
 * (in the traced process: no allocation, refuses when full), and a growing one on the heap (in tools). Not shared between threads: one table, one
 * thread at a time; tables are merged afterwards.
 * The law: any split of a set of events over tables, merged in any order, gives the same rows. */
#ifndef DFT_AGGREGATE_H
#define DFT_AGGREGATE_H

#include <stddef.h>

#include "codec.h"
#include "histogram.h"

struct dft_table;

/* What to keep: a mask. Call rows are always kept. */
enum { DFT_KEEP_HISTOGRAMS = 1, DFT_KEEP_FILES = 2 };

/* A fixed table for at most `rows` rows of any kind, in caller's zeroed memory (aligned to 64, dft_table_bytes(rows) long; pages
 * that few rows do not need are not touched). */
size_t dft_table_bytes(uint32_t rows);
struct dft_table *dft_table_init(void *memory, uint32_t rows, uint64_t interval_ns, unsigned keep);

/* A growing table. NULL: no memory. */
struct dft_table *dft_table_create(uint64_t interval_ns, unsigned keep);
void dft_table_destroy(struct dft_table *);

/* Adds the events of a batch (those whose op is aggregated), from event *position on, and sets *position to the number done. Returns 0, or -ENOSPC when a fixed
 * table cannot take the next event whole (flush it, clear it, go on at *position), or -ENOMEM. An event is added whole or
 * not at all. */
int dft_table_add(struct dft_table *, const struct dft_batch *batch, uint32_t *position);

/* Merges one row; the table's own width must divide the row's (a finer table is coarsened by the caller, by integer division
 * of the interval). Returns 0, -ENOSPC or -ENOMEM. */
int dft_table_merge(struct dft_table *, const struct dft_row *row);

/* Forgets all rows, in time proportional to their number. */
void dft_table_clear(struct dft_table *);

/* The rows, sorted by kind, interval, region, subject, class: *rows and *count are valid until the table changes. Histogram rows point into the table.
 * Returns 0, or -ENOMEM (growing tables). */
int dft_table_rows(struct dft_table *, struct dft_row **rows, uint32_t *count);

/* Merge of metrics: the whole arithmetic of rows in one place. */
void dft_metrics_clear(struct dft_metrics *);
void dft_metrics_merge(struct dft_metrics *into, const struct dft_metrics *from);

/* Percentile p (0 < p <= 100) of a histogram; 0 when it is empty. */
uint64_t dft_percentile(const struct dft_bin *bins, uint32_t count, double p, uint64_t min, uint64_t max);

#endif
