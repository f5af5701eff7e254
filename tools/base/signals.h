/* SPDX-License-Identifier: MIT */
/* Catching a signal, unless the process ignores it: shells have it so for what runs in the background,
 * and nohup for SIGHUP. */
#ifndef DFT_SIGNALS_H
#define DFT_SIGNALS_H

#include <signal.h>

/* *before: what was done about it so far. */
static inline void dft_signal_catch(int number, const struct sigaction *action, struct sigaction *before)
{
    sigaction(number, NULL, before);
    if (before->sa_handler != SIG_IGN)
        sigaction(number, action, NULL);
}

#endif
