/* SPDX-License-Identifier: MIT */
/* What hand-written wrappers do around the real call, whichever way it is made: by the C library's
 * function or through syscall(). */
#ifndef DFT_WRAP_SPECIAL_H
#define DFT_WRAP_SPECIAL_H

#include <signal.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "format/calls.h"
#include "probe/probe.h"

int dft_duplicate(enum dft_call_number call, int fd, int fd2, int flags, int (*make)(int fd, int fd2, int flags));
int dft_control(int fd, int command, long argument, int (*make)(int fd, int command, long argument));
/* `make` is called for the ranges below and above our own descriptor. */
int dft_close_many(unsigned first, unsigned last, int flags, int (*make)(unsigned first, unsigned last, int flags));

ssize_t dft_sendfile(int out_fd, int in_fd, off_t *offset, size_t size,
                     ssize_t (*make)(int out_fd, int in_fd, off_t *offset, size_t size));
struct dft_transfer {
    int in_fd;
    off_t *in_offset;
    int out_fd;
    off_t *out_offset;
    size_t size;
    unsigned flags;
};
ssize_t dft_transfer(enum dft_call_number read, enum dft_call_number written, const struct dft_transfer *what,
                     ssize_t (*make)(int in_fd, off_t *in_offset, int out_fd, off_t *out_offset, size_t size,
                                     unsigned flags));
int dft_ioctl(int fd, unsigned long request, void *argument,
              int (*make)(int fd, unsigned long request, void *argument));
/* The calling thread is about to get descriptors of its own. Returns 0 where that changes nothing. */
int dft_files_parting(void);
int dft_unshare(int flags, int (*make)(int flags));
int dft_chroot(const char *path, int (*make)(const char *path));
/* A new descriptor of the program, which is not followed: it is queried at its first data call. */
void dft_forget_made(int fd);
/* After a message has come: descriptors in it. */
void dft_forget_received(const struct msghdr *message);

/* The system calls of libaio, by whoever makes them. Result and errno are those of syscall(). */
long dft_libaio_syscall(long number, const long arguments[6]);

pid_t dft_fork(enum dft_call_number call, pid_t (*make)(const long *arguments), const long *arguments);
/* `make` gets the environment to use. */
int dft_exec(enum dft_call_number call, int dirfd, const char *path, char *const envp[],
             int (*make)(const long *arguments, char *const envp[]), const long *arguments);

/* Before the process ends by _exit. */
void dft_exiting(int status);
/* After a wait, begun with dft_process_begin(). */
void dft_end_wait(struct dft_probe *probe, enum dft_call_number call, int options, pid_t result, const int *status);
void dft_end_waitid(struct dft_probe *probe, int options, int result, const siginfo_t *info);

#endif
