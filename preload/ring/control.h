/* SPDX-License-Identifier: MIT */
/* What `dftmerge control` asks for while the process runs: more or less is kept, or everything is
 * written. Nothing here is on the path of a call: dftmerge marks the rings, so that the next record
 * drains. */
#ifndef DFT_RING_CONTROL_H
#define DFT_RING_CONTROL_H

#include "thread/state.h"

/* Does what is requested, if nobody does. No lock of a thread's state is held; signals are blocked. */
void dft_control_look(void);

/* Marks a thread's rings as its pauses and those of the process want it. What was recorded before goes
 * by the old rule. Signals blocked. */
void dft_pauses_apply(struct dft_thread *thread);
/* The process has one pause more, or one less. Signals blocked. */
void dft_pauses_add(int more);
/* How many pauses of the process are the program's own. */
uint32_t dft_pauses_own(void);
/* Writes everything that threads have recorded. Signals blocked. */
void dft_flush_all(void);

/* In a forked child: requests to its parent do not hold. */
void dft_control_forked(void);

#endif
