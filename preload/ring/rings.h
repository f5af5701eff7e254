/* SPDX-License-Identifier: MIT */
/* The rings of a thread. A ring never moves and never changes its size, so a thread that needs more
 * slots gets another ring. */
#ifndef DFT_RINGS_H
#define DFT_RINGS_H

#include "format/row.h"
#include "thread/state.h"

/* Makes a ring, whose head is filled in, the current ring of the thread. */
void dft_rings_add(struct dft_thread *thread, struct dft_ring *ring);
/* Assigns the rings of a state to the thread that takes the state over. */
void dft_rings_assign(struct dft_thread *thread, uint32_t tid);

/* Gives the calling thread another ring, after its drain. The first function gives a larger ring to
 * a thread whose ring keeps filling. The second gives a ring in the new live file, when the thread
 * began with an older one. */
void dft_rings_grow(struct dft_thread *thread);
void dft_rings_renew(struct dft_thread *thread);

/* In a forked child. The rings are the parent's. */
void dft_rings_forked(void);

/* Makes spare rings for a thread that is about to forbid itself system calls. Signals blocked. */
void dft_rings_lay_in(struct dft_thread *self);
/* The thread's ring is full and cannot be drained. Switches to a spare ring. Returns 0 when there
 * is none, or when the thread may drain. */
int dft_rings_next_spare(struct dft_thread *self);

/* Adds the lost and misused counts of the rings of all threads. end->how says how the process
 * ends. */
void dft_rings_sum(struct dft_end *end);

#endif
