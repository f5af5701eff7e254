/* SPDX-License-Identifier: MIT */
/* The live file of this process: where rings are mapped, so that a killed process's records can be read. */
#ifndef DFT_LIVEFILE_H
#define DFT_LIVEFILE_H

#include "format/live_format.h"
#include "os/self.h"

#define DFT_FIRST_SLOTS 256u /* of a thread's first ring */

/* Creates it, with its head: dft_live is never NULL afterwards. Signals blocked. Returns 0 or -ENOMEM. Notes say what could not be done. */
int dft_livefile_create(void);

/* A new ring with so many slots, its head filled in: in plain memory where the file has no room. NULL: no memory. The
 * second gives plain memory only where no ring outlives the process anyway, else NULL. Signals blocked. */
struct dft_ring *dft_livefile_ring(uint32_t slots, uint32_t tid, uint64_t base);
struct dft_ring *dft_livefile_lasting_ring(uint32_t slots, uint32_t tid, uint64_t base);

/* Removes it from its directory; mappings stay. Create makes another one, which takes over the counters. */
void dft_livefile_remove(void);

/* How many there have been: rings of an earlier one are not to be found by anybody. */
extern uint32_t dft_livefile_number;

/* A ring whose slots are all free gives their memory and file space back, and has them again before it is used: in plain memory where the
 * file has no room. Returns 0 or -errno. Signals blocked; not both at the same time. */
void dft_livefile_ring_idle(struct dft_ring *ring);
int dft_livefile_ring_again(struct dft_ring *ring);

/* In a forked child. Private pages at the same place: an append that a signal interrupted before the fork goes on into them, harmlessly. */
void dft_livefile_ring_detach(struct dft_ring *ring);

/* In a forked child: the parent's file is left alone, and does not stay mapped: who asks whether the parent still runs
 * would meet that. */
void dft_livefile_forget(void);

/* Its path, "" when it is plain memory. */
extern char dft_livefile_path[];

#endif
