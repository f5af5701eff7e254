/* SPDX-License-Identifier: MIT */
/* The names below /proc of what the caller has. /proc/self tells of a process by its first thread. That
 * thread may have ended, or may have other descriptors. /proc/thread-self tells of the caller; kernels
 * before 3.17 do not have it. Where one of the two is not there, the other one is tried: turn 0, then
 * turn 1. Both miss where there is no /proc, or that of a namespace without this process. */
#ifndef DFT_PROC_H
#define DFT_PROC_H

#include <stddef.h>

#define DFT_PROC_ROOM  48u
#define DFT_PROC_TURNS 2

/* Any thread. The name of a file of the caller's. */
void dft_proc_name(char name[DFT_PROC_ROOM], const char *file, int turn);
/* The same of a descriptor. Its link tells what file that is. */
void dft_proc_fd_name(char name[DFT_PROC_ROOM], unsigned fd, int turn);

/* What the kernel writes behind the name of a file that has none any more. */
#define DFT_PROC_DELETED        " (deleted)"
#define DFT_PROC_DELETED_LENGTH ((long)sizeof DFT_PROC_DELETED - 1)

/* The link of a descriptor that is a ring of io_uring. */
#define DFT_PROC_RING "anon_inode:[io_uring]"

/* Reads a link of the caller's, and that of a descriptor. Return the length, or -errno. */
long dft_proc_link(const char *file, char *text, size_t capacity);
long dft_proc_fd_link(unsigned fd, char *text, size_t capacity);

#endif
