/* SPDX-License-Identifier: MIT */
/* Descriptors of the library in progress. The kernel takes a number first and puts the file there last; between, the number is neither
 * free nor open, and a dup2 of the program to it fails with EBUSY. Without the library it would be free. */
#ifndef DFT_FD_PROGRESS_H
#define DFT_FD_PROGRESS_H

#include <stdint.h>

/* openat() of a path; a copy on the lowest free number from `lowest` on. Any thread. Returns the descriptor or -errno. */
long dft_fd_progress_open(const char *path, int flags, int mode);
long dft_fd_progress_copy(int fd, int lowest);

/* A moment, and whether any number has been in the making since then: whose EBUSY it was cannot be known otherwise. Any thread. */
uint32_t dft_fd_progress_moment(void);
int dft_fd_progress_since(uint32_t moment);

/* In a forked child: what other threads of the parent were opening is not there. */
void dft_fd_progress_forked(void);

#endif
