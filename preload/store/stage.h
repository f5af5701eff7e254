/* SPDX-License-Identifier: MIT */
/* DFTRACER_STAGE_DIR: the trace is written on the node, and moves to its place at the end. */
#ifndef DFT_STAGE_H
#define DFT_STAGE_H

/* Constructor only, after dft_tracename_init. Makes the directory. A directory that cannot serve is
 * reported as a setting without effect, and traces are written to their place at once. */
void dft_stage_init(char *const *environment);

/* The process ends, or an exec replaces it: END is written. Moves a staged trace to its place, unless a
 * live file goes with it. A trace that stays is reported on descriptor 2, with the command that collects
 * it. Signals blocked. */
void dft_stage_end(void);

#endif
