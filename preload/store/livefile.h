/* SPDX-License-Identifier: MIT */
/* The live file of this process. Rings lie in mappings of the file, so a killed process's records
 * can be read. */
#ifndef DFT_LIVEFILE_H
#define DFT_LIVEFILE_H

#include "format/live_format.h"
#include "os/self.h"

#define DFT_FIRST_SLOTS 256u /* of a thread's first ring */

/* Creates the live file with its head. dft_live is never NULL afterwards. Signals blocked. Returns
 * 0 or -ENOMEM. Process notes record what could not be done. */
int dft_livefile_create(void);

/* A new ring with this many slots and its head filled in. The ring lies in plain memory where the
 * file has no room. NULL: no memory. The second function uses plain memory only where no ring
 * outlives the process anyway. Otherwise the second function returns NULL. Signals blocked. */
struct dft_ring *dft_livefile_ring(uint32_t slots, uint32_t tid, uint64_t base);
struct dft_ring *dft_livefile_lasting_ring(uint32_t slots, uint32_t tid, uint64_t base);

/* Memory for a thread's table of aggregates, zeros but for its place and the numbers of its streams.
 * NULL: the file has no room. Signals blocked. */
struct dft_live_table;
struct dft_live_table *dft_livefile_table(void);
/* In a forked child. Maps private pages at the same place. */
void dft_livefile_table_detach(struct dft_live_table *table);

/* Atomic: does a thread make the file or change its size just now? */
int dft_livefile_is_locked(void);

/* Removes the live file from its directory. Mappings stay. dft_livefile_create() then makes another
 * file, which takes over the counters. */
void dft_livefile_remove(void);

/* How many live files there have been. No reader can find rings of an earlier file. */
extern uint32_t dft_livefile_number;

/* The first function returns the memory and the file space of a ring whose slots are all free. The
 * second obtains both again before the ring is used. The second uses plain memory where the file
 * has no room. Returns 0 or -errno. Signals blocked. The two functions must not run at the same
 * time. */
void dft_livefile_ring_idle(struct dft_ring *ring);
int dft_livefile_ring_again(struct dft_ring *ring);

/* In a forked child. Maps private pages at the same place. An append that a signal interrupted
 * before the fork goes on into these pages, harmlessly. */
void dft_livefile_ring_detach(struct dft_ring *ring);

/* In a forked child. Leaves the parent's file alone and unmaps it. A mapping in the child would
 * mislead a reader who asks whether the parent still runs. */
void dft_livefile_forget(void);

/* The path of the live file; "" when the live file is plain memory. */
extern char dft_livefile_path[];

#endif
