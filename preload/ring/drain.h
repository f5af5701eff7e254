/* SPDX-License-Identifier: MIT */
/* The drain turns the records of a ring into events, rows and blocks in the file. The owner of the
 * ring runs it; there is no helper thread. */
#ifndef DFT_DRAIN_H
#define DFT_DRAIN_H

#include "thread/state.h"

/* The owner drains its ring, because the ring is full enough, the process is late, or the thread
 * ends. Does nothing in a vfork child. */
void dft_drain_own(struct dft_thread *self);

/* Drains all slots of any thread's rings. Waits for the lock of a drain that is under way. Returns
 * the number of slots that are still busy. Signals blocked. */
uint32_t dft_drain_all_of(struct dft_thread *thread);

/* Writes the rows that wait in contexts for those of later drains: nothing is to come, or somebody
 * asks. Signals blocked. */
void dft_drain_all_rows(void);

/* Takes the open bursts of a thread, after dft_late was announced. Takes its open regions, too, if
 * they end with the process. Returns 1 when they cannot be taken, because the thread is changing
 * them. Signals blocked. */
uint32_t dft_drain_open(struct dft_thread *thread, const struct dft_ended *ended);

#endif
