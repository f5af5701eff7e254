/* SPDX-License-Identifier: MIT */
/* Fatal signals (DFTRACER_BIND_SIGNALS=1). Where the program leaves a fatal signal at its default,
 * our handler stands in for the default. Our handler writes everything to the trace, and a stack
 * trace to descriptor 2. Then the process dies of the signal as it would have.
 *
 * The program sees no difference. A query answers SIG_DFL. A handler that the program sets is set,
 * without a handler of ours in the way. After a handler for one signal only (SA_RESETHAND), our
 * handler follows, not the plain default.
 *
 *   who                       may do                              at the same time as
 *   wrappers of sigaction     change the stand-in of a signal     each other (in kernel order),
 *                                                                 the handler
 *   the handler               end the process                     itself in other threads:
 *                                                                 they wait for the end */
#ifndef DFT_FATAL_H
#define DFT_FATAL_H

#include <signal.h>
#include <stdint.h>
#include "life/dispositions.h"

/* Bit N - 1: signal N is watched. 0 when the option is off, and while a thread has forbidden itself
 * system calls. */
extern uint64_t dft_fatal_signals;

/* Watches all signals that are at their default. Constructor only. */
void dft_fatal_init(void);

static inline int dft_fatal_watches(int signal)
{
    return __builtin_expect(dft_fatal_signals != 0, 0) && signal > 0 && signal <= 64 &&
           dft_fatal_signals >> (signal - 1) & 1;
}

/* The handler itself. */
void dft_fatal_handler(int signal, siginfo_t *info, void *context);

#endif
