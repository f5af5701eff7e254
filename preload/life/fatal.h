/* SPDX-License-Identifier: MIT */
/* Fatal signals (DFTRACER_BIND_SIGNALS=1): where the program leaves one of them at its default, a handler of ours stands in for that default. It
 * writes everything to the trace and a stack trace to descriptor 2, and lets the process die of the signal as it would have.
 *
 * The program cannot tell: where it asks, it is told SIG_DFL; what it sets is set, and then there is nothing of ours in the way. A handler that it asks to be
 * for one signal only (SA_RESETHAND) leaves ours behind, not the plain default.
 *
 *   who                       may do                                   at the same time as
 *   wrappers of sigaction     change what stands in for a signal       each other (the kernel puts them in order), the handler
 *   the handler               end the process                          itself in other threads: they wait for the end */
#ifndef DFT_FATAL_H
#define DFT_FATAL_H

#include <signal.h>
#include <stdint.h>

/* Bit N - 1: signal N is watched. 0 when the option is off, and while a thread has forbidden itself system calls. */
extern uint64_t dft_fatal_signals;

/* Binds all that are at their default. Constructor only. */
void dft_fatal_init(void);

/* All of them back to what the program thinks they are, and bound again: around a mode without system calls, in which no handler could
 * let the process die. */
void dft_fatal_give_up(void);
void dft_fatal_regain(void);

/* As sigaction, of a signal that is watched. */
int dft_fatal_action(int signal, const struct sigaction *action, struct sigaction *old);

/* What the program is to be told of a handler that the real functions gave. */
void (*dft_fatal_shown(int signal, void (*handler)(int)))(int);

static inline int dft_fatal_watches(int signal)
{
    return __builtin_expect(dft_fatal_signals != 0, 0) && signal > 0 && signal <= 64 &&
           dft_fatal_signals >> (signal - 1) & 1;
}

/* The handler itself. */
void dft_fatal_handler(int signal, siginfo_t *info, void *context);

#endif
