/* SPDX-License-Identifier: MIT */
/* Runs one program, passes signals on to it, and ends as the program ended. */
#ifndef DFT_DFTRUN_CHILD_H
#define DFT_DFTRUN_CHILD_H

#include "dftrun/dftrun.h"

/* Runs argv and waits for its end. The child calls `prepare` with `context` to set its environment
 * (0 or -errno). SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 are passed on when another
 * process sends them to us alone. Signals of the terminal reach the program without us. Returns 0
 * or -errno. */
int dft_child_run(char *const argv[], int (*prepare)(const void *context), const void *context,
                  struct dft_outcome *outcome);
/* Ends this process in the way the program ended. */
void dft_child_follow(const struct dft_outcome *outcome) __attribute__((noreturn));

#endif
