/* SPDX-License-Identifier: MIT */
/* Descriptors that the library is opening. The kernel reserves a number first and installs the file
 * last. Between the two steps the number is neither free nor open. A dup2 of the program to the
 * number then fails with EBUSY. Without the library the number would be free. */
#ifndef DFT_FD_PROGRESS_H
#define DFT_FD_PROGRESS_H

#include <stdint.h>

/* The first opens a path, as openat() does. Somebody else may have put anything there: it follows no
 * symbolic link at the end of the path, waits for nobody, and an exec closes the descriptor. The second
 * makes a copy on the lowest free number from `lowest` on. Any thread. Both return the descriptor or
 * -errno. */
long dft_fd_progress_open(const char *path, int flags, int mode);
long dft_fd_progress_copy(int fd, int lowest);

/* The same for a file of /proc that is read and closed: by the last of these alone. The second opens what tells of
 * the caller (os/proc.h). A fork in another thread gives the descriptor to the child, too (store/strays.h). */
long dft_fd_progress_open_brief(const char *path, int flags);
long dft_fd_progress_open_proc(const char *file, int flags);
void dft_fd_progress_close_brief(long fd);
/* Is any open? True also of one that was just closed. */
int dft_fd_progress_is_brief(void);

/* The first returns a moment. The second says whether the library has been opening any number since
 * that moment. Only this tells whose EBUSY the program met. Any thread. */
uint32_t dft_fd_progress_moment(void);
int dft_fd_progress_since(uint32_t moment);

/* In a forked child. Descriptors that other threads of the parent were opening do not exist
 * here. */
void dft_fd_progress_forked(void);

#endif
