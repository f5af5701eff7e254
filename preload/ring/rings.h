/* SPDX-License-Identifier: MIT */
/* The rings of a thread: each stays where it is and as large as it is, so a thread that needs more gets another one. */
#ifndef DFT_RINGS_H
#define DFT_RINGS_H

#include "format/row.h"
#include "ring/thread.h"

/* A ring of which the head is filled in becomes the one that the thread's events go into. */
void dft_rings_add(struct dft_thread *thread, struct dft_ring *ring);
/* The rings of a state that another thread takes over. */
void dft_rings_assign(struct dft_thread *thread, uint32_t tid);

/* Another ring for the calling thread, after its drain: a larger one when it keeps filling, or one in the new live file when
 * there is another than the thread began with. */
void dft_rings_grow(struct dft_thread *thread);
void dft_rings_renew(struct dft_thread *thread);

/* In a forked child: the rings are the parent's. */
void dft_rings_forked(void);

/* Spare rings for a thread that is about to forbid itself system calls. Signals blocked. */
void dft_rings_lay_in(struct dft_thread *self);
/* The thread's ring is full and cannot be drained: goes on in a spare one. Returns 0 when there is none, or when the thread
 * may drain. */
int dft_rings_next_spare(struct dft_thread *self);

/* Adds what the rings of all threads have counted as lost or misused; end->how says how the process ends. */
void dft_rings_sum(struct dft_end *end);

#endif
