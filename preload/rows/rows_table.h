/* SPDX-License-Identifier: MIT */
/* The objects in a table of rows: found, made, and emptied. */
#ifndef DFT_ROWS_TABLE_H
#define DFT_ROWS_TABLE_H

#include "rows/rows.h"

struct dft_rows_event;

/* The place of the call row with this key, made neutral where it was not there. 0: no room. */
uint32_t dft_rows_row(struct dft_rows *rows, const struct dft_live_key *key);
/* The number of its histogram. -1: no room. */
int dft_rows_histogram(struct dft_rows *rows, const struct dft_live_key *key);
/* The counter of a value in a histogram, as struct dft_live_step has it. 0: no room. */
uint32_t dft_rows_counter(struct dft_rows *rows, uint32_t histogram, enum dft_live_bins which, uint64_t value);
/* The place of a file's row. 0: there is none, or there is no room for it. */
uint32_t dft_rows_find_file(const struct dft_rows *rows, uint64_t file, uint64_t region, uint64_t interval,
                            uint32_t which);
uint32_t dft_rows_file(struct dft_rows *rows, uint64_t file, uint64_t region, uint64_t interval, uint32_t which);
/* The file's row gets what the event needs: data, or a pattern wide enough. Returns 0 or -ENOSPC. */
int dft_rows_widen_file(struct dft_rows *rows, uint32_t place, const struct dft_rows_event *event);
/* Is there room for the rows of one more file, or directory? Directories have room of their own. */
int dft_rows_has_room(const struct dft_rows *rows, int is_directory);
/* The same of a file that has no row yet. */
int dft_rows_admits(const struct dft_rows *rows);
/* Notes the distance between strided accesses. */
void dft_rows_stride(struct dft_live_table *live, uint32_t place, int64_t bytes);
/* What to write where this is full. Call rows alone, where there are many: that is little. */
unsigned dft_rows_choose(struct dft_rows *rows, unsigned full);
/* May histograms and files be written now, only because there are many? Not too often: what is
 * written would grow with the number of files. */
int dft_rows_may_flush_files(const struct dft_rows *rows);
/* Empties the table of what was written: DFT_LIVE_CALLS_WRITTEN and DFT_LIVE_FILES_WRITTEN. */
void dft_rows_empty(struct dft_rows *rows, uint32_t what);
/* Finds all objects anew. */
void dft_rows_index_again(struct dft_rows *rows);

#endif
