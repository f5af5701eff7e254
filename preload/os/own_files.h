/* SPDX-License-Identifier: MIT */
/* Threads with a table of descriptors of their own: after unshare(CLONE_FILES) or its like, a number means
 * another file to them. The library's table is that of the other threads. Each call of such a thread queries
 * the kernel, as a vfork child's does, and what the thread opens or closes changes nothing in the table. */
#ifndef DFT_OWN_FILES_H
#define DFT_OWN_FILES_H

/* The calling thread, of several, has a table of its own from now on. */
void dft_own_files_begin(void);
/* A thread with a table of its own is about to be made, and nobody will see it begin. */
void dft_own_files_expect(void);
/* A thread begins. It may share the table of such a thread that has made it. */
void dft_own_files_inherit(void);
/* In a forked child. Returns 1 where its descriptors are those of such a thread. */
int dft_own_files_forked(void);

/* May the calling thread turn out to have a table of its own? Before its first event nobody knows. */
int dft_own_files_possible(void);

#endif
