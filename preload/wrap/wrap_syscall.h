/* SPDX-License-Identifier: MIT */
/* Between the wrapper of syscall() and the parts of it that are written by hand. */
#ifndef DFT_WRAP_SYSCALL_H
#define DFT_WRAP_SYSCALL_H

#include <sys/syscall.h>

/* Six arguments always: the C library's own takes as many, from registers and the stack, whether they were passed or
 * not. */
#define PARAMETERS long number, long a0, long a1, long a2, long a3, long a4, long a5
#define ARGUMENTS  number, a0, a1, a2, a3, a4, a5
#define REAL       DFT_REAL(syscall)

/* dft_custom_SYS_name(): makes the call. */
#define DFT_SYSCALL_EVENT(...)
#define DFT_SYSCALL(...)
#define DFT_SYSCALL_CUSTOM(event, op, name) long dft_custom_##name(PARAMETERS);
#include <dftrace/syscalls.def>

/* One of them. */
#define CUSTOM(name) long dft_custom_##name(PARAMETERS)

/* Must the call be made without any function in between? The stack that it returns on is not this
 * one. */
int dft_syscall_is_plain(long number, long a0, long a1);

#endif
