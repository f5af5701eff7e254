/* SPDX-License-Identifier: MIT */
/* How a process ends, or is replaced. */
#ifndef DFT_SHUTDOWN_H
#define DFT_SHUTDOWN_H

#include "format/format.h"

/* In the constructor, where it is cheap; and in a forked child. */
void dft_shutdown_init(void);
void dft_shutdown_forked(void);

/* Everything to the file; END; the live file goes. Called for exit, _exit and fatal signals (status: the signal), once;
 * later events are written through. */
void dft_shutdown_end(enum dft_ending how, int status);

/* A call that ends the process within the C library may come back after all (daemon): what dft_shutdown_end() did is undone. */
void dft_shutdown_end_failed(void);

/* Before exec. Returns 1: after a failed one dft_shutdown_exec_failed() goes on as before. */
int dft_shutdown_exec(void);
void dft_shutdown_exec_failed(void);

#endif
