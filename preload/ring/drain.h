/* SPDX-License-Identifier: MIT */
/* The drain: records of a ring become events, rows and blocks in the file. No helper thread does it; the owner of the ring does. */
#ifndef DFT_DRAIN_H
#define DFT_DRAIN_H

#include "ring/thread.h"

/* The owner drains its ring: it is full enough, or the process is late, or the thread ends. Does nothing in a vfork child. */
void dft_drain_own(struct dft_thread *self);

/* Drains any thread's rings, all slots of them; waits for the lock of a drain that is under way. Returns the number of slots that are
 * still busy. Signals blocked. */
uint32_t dft_drain_all_of(struct dft_thread *thread);

/* Something that could not be written at the end stays in the live file. */
extern int dft_drain_kept; /* atomic */

/* Takes the open runs of a thread, after dft_late was announced, and its open regions if they end with the process. Returns 1 when they
 * cannot be taken: the thread is at them. Signals blocked. */
uint32_t dft_drain_open(struct dft_thread *thread, const struct dft_ended *ended);

#endif
