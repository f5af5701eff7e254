/* SPDX-License-Identifier: MIT */
/* The end of a process, and its replacement by an exec. */
#ifndef DFT_SHUTDOWN_H
#define DFT_SHUTDOWN_H

#include "format/format.h"

/* The first runs in the constructor, where it is cheap. The second runs in a forked child. */
void dft_shutdown_init(void);
void dft_shutdown_forked(void);

/* Writes all records and the END block, and removes the live file. Called once, for exit, _exit and
 * fatal signals (status: the signal). Later events are written at once. */
void dft_shutdown_end(enum dft_ending exit_kind, int status);

/* A call that ends the process within the C library may still return (daemon). Then this function
 * undoes dft_shutdown_end(). */
void dft_shutdown_end_failed(void);

/* Before an exec, of a program without LD_PRELOAD or of one with it. Returns 1: after a failed exec,
 * dft_shutdown_exec_failed() lets tracing go on as before. */
int dft_shutdown_exec(int is_lost);
void dft_shutdown_exec_failed(void);

#endif
