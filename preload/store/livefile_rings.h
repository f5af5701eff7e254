/* SPDX-License-Identifier: MIT */
/* Rings and tables in the live file, and its lock. */
#ifndef DFT_LIVEFILE_RINGS_H
#define DFT_LIVEFILE_RINGS_H

#include <stddef.h>
#include <stdint.h>

struct dft_ring;

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
/* The first function returns the memory and the file space of a ring whose slots are all free. The
 * second obtains both again before the ring is used. The second uses plain memory where the file
 * has no room. Returns 0 or -errno. Signals blocked. The two functions must not run at the same
 * time. */
void dft_livefile_ring_idle(struct dft_ring *ring);
int dft_livefile_ring_again(struct dft_ring *ring);
/* In a forked child. Maps private pages at the same place. An append that a signal interrupted
 * before the fork goes on into these pages, harmlessly. */
void dft_livefile_ring_detach(struct dft_ring *ring);

/* The lock of the file. Its holder makes the file or lets it grow. The unlock
 * wakes `most` of the threads that wait for small rings, and these look again. `most` is more than
 * a batch has left: one of the threads then makes the next batch and wakes others. These threads do
 * not wait for the lock itself. They would take the lock one after the other for nothing. */
void dft_livefile_lock(void);
void dft_livefile_unlock(uint32_t most);
/* With the lock held. There is another file, and no ring is ready in it. */
void dft_livefile_rings_moved(void);
/* With the lock held, after dft_livefile_rings_moved(). The new file has one small ring here. */
void dft_livefile_ring_ahead(void *at, uint64_t offset);
/* In a forked child. */
void dft_livefile_rings_forget(void);

#endif
