/* SPDX-License-Identifier: MIT */
/* Signals that end the reading of a source in order, so that a command takes away what it has begun
 * to write. */
#ifndef DFT_SOURCE_INTERRUPT_H
#define DFT_SOURCE_INTERRUPT_H

struct dft_source;

/* From now on the first SIGINT, SIGTERM or SIGHUP ends what reads the source, with -ECANCELED, and a
 * second one ends the process. Signals that the process ignores stay so. Returns what is not 0 once
 * a signal has come. */
const _Atomic int *dft_source_interruptible(struct dft_source *source);
/* From now on each of them ends the process again. */
void dft_source_uninterruptible(struct dft_source *source);

#endif
