/* SPDX-License-Identifier: MIT */
/* The stack trace that a fatal signal prints. */
#ifndef DFT_BACKTRACE_H
#define DFT_BACKTRACE_H

#include <signal.h>

/* Prints one line about the signal and one for each frame of the calling thread. The lines go to
 * descriptor 2 if that is still the file that the program inherited. Allocates nothing and takes no
 * lock. All signals blocked; once in the life of a process; on a stack of some 16 KiB. A fault on
 * the way (a destroyed stack, a damaged library) ends the list, not the process. */
void dft_backtrace(int signal, const siginfo_t *info, const void *context);

#endif
