/* SPDX-License-Identifier: MIT */
/* The order of things: what happens at load and in a forked child. The end and execs: shutdown.h. */
#ifndef DFT_LIFECYCLE_H
#define DFT_LIFECYCLE_H

/* In the child of a fork, before anything else there: fresh memory, a new key. Signals blocked, or in the fork wrapper. */
void dft_lifecycle_forked(void);
/* The same, unless a handler of pthread_atfork that did I/O was first. */
void dft_lifecycle_forked_once(void);

/* Before a process is made, in the parent: what is shared from now on. A child that does nothing but exec keeps only what
 * has no FD_CLOEXEC. */
enum dft_child { DFT_CHILD_STAYS, DFT_CHILD_EXECS };
void dft_lifecycle_forking(enum dft_child child);

#endif
