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
#include "ring/thread.h"

struct dft_pieces;
struct dft_burst;

/* By the settings. */
void dft_mode_begin(void);
/* In a forked child: as the settings have it. */
void dft_mode_forked(void);

/* What is to be kept of new calls: enum dft_keep. */
enum dft_keep dft_mode_wanted(void);

/* `dftmerge control` has said what is to be kept. The limits of size and cost hold all the same. Says
 * whether it was done, was so already, or a limit forbids it. */
enum dft_controlled dft_mode_control(enum dft_keep keep);

/* Around a drain or a flush, for the limit of cost: the processor time that it takes is the library's.
 * Any thread, signals blocked. The first returns what the second takes. */
uint64_t dft_mode_own_begin(void);
void dft_mode_own_end(uint64_t begin_ns);

/* The owner has drained, or begins an interval. Decides, if a limit is set, and takes over what was
 * decided. Signals blocked, unless the state has a table. */
void dft_mode_update(struct dft_thread *self);

/* enum dft_mode of a state as it is: with the table that it has, and its pauses. */
uint32_t dft_mode_of(const struct dft_thread *thread);

/* Of a state whose calls are not all events: is this record kept in aggregates alone? It is added then.
 * The same of a record with items, and of a burst (rows.h). */
int dft_mode_keeps(struct dft_thread *self, const struct dft_slot *record);
int dft_mode_keeps_long(struct dft_thread *self, const struct dft_slot *record, const struct dft_pieces *items);
int dft_mode_keeps_burst(struct dft_thread *self, const struct dft_slot *record, const struct dft_burst *run,
                         struct dft_burst *open);

#endif
