/* SPDX-License-Identifier: MIT */
/* Descriptors that another thread of the library had open just when the program forked. */
#ifndef DFT_STRAYS_H
#define DFT_STRAYS_H

/* Before a fork, in the thread that forks. */
void dft_strays_forking(void);
/* In the forked child, before the parent's files have other names. Signals blocked. Closes what the parent's
 * threads had open of its trace and live file, and of /proc, for a moment. */
void dft_strays_forked(void);

#endif
