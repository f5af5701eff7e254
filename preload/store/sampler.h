/* SPDX-License-Identifier: MIT */
/* The thread that takes a sample an interval (DFTRACER_SYSTEM_METRICS=thread). */
#ifndef DFT_SAMPLER_H
#define DFT_SAMPLER_H

/* Starts the thread. Signals blocked: the thread never takes one. */
void dft_sampler_start(void);
/* Ends the thread, and waits until it is gone. Does nothing without a thread. */
void dft_sampler_stop(void);
/* In a forked child, which has no such thread. */
void dft_sampler_forked(void);

#endif
