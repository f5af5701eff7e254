/* SPDX-License-Identifier: MIT */
/* Assigns tables of rows to threads, and writes them. */
#ifndef DFT_ROWS_FLUSH_H
#define DFT_ROWS_FLUSH_H

#include "thread/state.h"

/* Gives the state a table. The state stays without one where there is no room. Signals blocked. */
void dft_rows_begin(struct dft_thread *self);
/* Another thread has taken over the state. */
void dft_rows_assign(struct dft_thread *self, uint32_t tid);
/* Writes the rows of a state, and empties its table. Its lock is held, signals are blocked. Returns
 * 0, or 1 when the owner is in the middle of a step: nothing was done. */
int dft_rows_flush(struct dft_thread *thread);
/* Is its owner in the middle of a step? Nobody can write the rows then. */
int dft_rows_is_busy(const struct dft_thread *thread);
/* Calls in the table of a state that no block counts yet. */
uint64_t dft_rows_waiting(const struct dft_thread *thread);
/* In a forked child. The table of the thread that forked becomes private memory that nobody reads.
 * NULL: it has no state. */
void dft_rows_forked(struct dft_thread *self);

/* The same as dft_rows_flush, of these alone. */
int dft_rows_flush_some(struct dft_thread *thread, unsigned what);

#endif
