/* SPDX-License-Identifier: MIT */
/* The order of actions at load and in a forked child. shutdown.h orders the end and execs. */
#ifndef DFT_LIFECYCLE_H
#define DFT_LIFECYCLE_H

/* In the child of a fork, before any other action. Gives the child fresh memory and a new key.
 * Signals blocked, or in the fork wrapper. */
void dft_lifecycle_forked(void);
/* As dft_lifecycle_forked(). Does nothing if I/O in a pthread_atfork handler has already done this
 * work. */
void dft_lifecycle_forked_once(void);

/* In the parent, before a process is made. Marks the descriptors that are shared from now on. A
 * child that does nothing but exec keeps only descriptors without FD_CLOEXEC. */
enum dft_child { DFT_CHILD_STAYS, DFT_CHILD_EXECS };
void dft_lifecycle_forking(enum dft_child child);

#endif
