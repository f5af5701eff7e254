/* SPDX-License-Identifier: MIT */
/* Calls that are kept as aggregates alone: each adds to the rows of its thread at once, in the live
 * file (format/live_table.h). There is no record.
 *
 * What cannot be added goes to the ring as ever: calls of a handler that interrupted a step, of a
 * child in this memory, calls late in the process, and calls of a thread that has no table. */
#ifndef DFT_ROWS_H
#define DFT_ROWS_H

#include "format/text.h"
#include "format/live_table.h"
#include "os/hidden.h"
#include "thread/state.h"
#include "rows/rows_flush.h"

struct dft_pieces;
struct dft_burst;

/* Adds a record that would go to the ring. Returns 0: it must go there. */
int dft_rows_take(struct dft_thread *self, const struct dft_slot *record);
/* The same of a record with items, and of a burst. `open`: the burst in the live file, which learns
 * the number that it has in the table, or NULL. */
int dft_rows_take_long(struct dft_thread *self, const struct dft_slot *record, const struct dft_pieces *items);
int dft_rows_take_burst(struct dft_thread *self, const struct dft_burst *run, struct dft_burst *open);

/* The id under which calls on a file are counted, whose absolute path and class these are: its own,
 * or that of its directory where the table has no room for another file. Sends the name of either.
 * The file's own name has not been sent. */
uint64_t dft_rows_define(struct dft_thread *self, uint64_t id, struct dft_text path, enum dft_io io);

#endif
