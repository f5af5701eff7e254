/* SPDX-License-Identifier: MIT */
/* What becomes of the process's calls: events, or aggregates alone, or what the rules say. A thread
 * takes over a change at its next drain, or where its table begins an interval.
 *
 *   who            may                                with whom at the same time
 *   any thread     ask; decide (one does, others      all
 *                  go on without)
 *   constructor    begin                              nobody */
#ifndef DFT_MODE_H
#define DFT_MODE_H

#include "format/kept.h"
#include "thread/state.h"

/* By the settings. */
void dft_mode_begin(void);
/* In a forked child: as the settings have it. */
void dft_mode_forked(void);

/* What is to be kept of new calls: enum dft_keep. */
enum dft_keep dft_mode_wanted(void);

/* `dftmerge control` has said what is to be kept. The limits of size and cost hold all the same. Says
 * whether it was done, was so already, or a limit forbids it. */
enum dft_controlled dft_mode_control(enum dft_keep keep);

/* The owner has drained, or begins an interval. Decides, if a limit is set, and takes over what was
 * decided. Signals blocked, unless the state has a table. */
void dft_mode_update(struct dft_thread *self);

/* enum dft_mode of a state as it is: with the table that it has, and its pauses. */
uint32_t dft_mode_of(const struct dft_thread *thread);

#endif
