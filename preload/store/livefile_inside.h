/* SPDX-License-Identifier: MIT */
/* Functions that the live file and its rings share. */
#ifndef DFT_LIVEFILE_INSIDE_H
#define DFT_LIVEFILE_INSIDE_H

#include <stddef.h>
#include <stdint.h>

#include "store/livefile.h"

/* In livefile_rings.c: the lock of the file. Its holder makes the file or lets it grow. The unlock
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

/* In livefile.c: rounds up to pages as this machine has them (64 KiB on some). A mapping of a file
 * can begin only at such an offset. */
size_t dft_livefile_pages(size_t bytes);
/* Maps this many bytes of the file at the offset and allocates their space. With the lock held.
 * NULL: the file has no space for them. */
void *dft_livefile_map(size_t bytes, uint64_t offset);
/* Writes zeros over a part of the file. With the lock held. Returns 0 or -errno. */
int dft_livefile_write(uint64_t offset, size_t bytes);

#endif
