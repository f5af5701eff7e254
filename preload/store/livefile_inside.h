/* SPDX-License-Identifier: MIT */
/* What the live file and its rings share. */
#ifndef DFT_LIVEFILE_INSIDE_H
#define DFT_LIVEFILE_INSIDE_H

#include <stddef.h>
#include <stdint.h>

#include "store/livefile.h"

/* livefile_rings.c: the lock of the file, which is held while the file is made or grows. Letting go: `most` of those
 * that wait for small rings look again: more than a batch has left, so that one of them makes the next batch and wakes
 * others. They do not wait for the lock, which they would take one after the other for nothing. */
void dft_livefile_lock(void);
void dft_livefile_unlock(uint32_t most);
/* With the lock: there is another file, and no ring is ready in it. */
void dft_livefile_rings_moved(void);
/* In a forked child. */
void dft_livefile_rings_forget(void);

/* livefile.c: rounded up to pages as this machine has them (64 KiB on some): a file can be mapped from such an offset
 * on alone. */
size_t dft_livefile_pages(size_t bytes);
/* So many bytes of the file at the offset, with their room made. With the lock. NULL: it has no room for them. */
void *dft_livefile_map(size_t bytes, uint64_t offset);
/* Plain memory in place of it. NULL: there is none. */
void *dft_livefile_map_plain(size_t bytes);
/* Zeros over a part of the file. With the lock. Returns 0 or -errno. */
int dft_livefile_write(uint64_t offset, size_t bytes);

#endif
