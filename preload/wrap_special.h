/* What hand-written wrappers do around the real call, whichever way it is made: by the C library's function or through syscall(). */
#ifndef DFT_WRAP_SPECIAL_H
#define DFT_WRAP_SPECIAL_H

#include "calls.h"

int dft_duplicate(enum dft_call_number call, int fd, int fd2, int flags, int (*make)(int fd, int fd2, int flags));
int dft_control(int fd, int command, long argument, int (*make)(int fd, int command, long argument));
/* `make` is called for the ranges below and above our own descriptor. */
int dft_close_many(unsigned first, unsigned last, int flags, int (*make)(unsigned first, unsigned last, int flags));

/* The system calls of libaio, by whoever makes them. Result and errno are those of syscall(). */
long dft_libaio_syscall(long number, const long arguments[6]);

#endif
