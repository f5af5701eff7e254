/* SPDX-License-Identifier: MIT */
/* Mappings of the library. They lie where the program's are not, and no core file has them. */
#ifndef DFT_MEMORY_H
#define DFT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* At the end of the constructor: from now on mappings lie in the zone. Before, the kernel chooses their
 * place, because nothing of the program is there yet. And a sanitizer that begins after us wants to find
 * no mapping elsewhere. random: the kernel placed this address at random. */
void dft_memory_begin(const void *random);

/* Maps `bytes` at a place of our own, as mmap() does. Any thread, at any time. Returns the address, or
 * -errno. */
long dft_memory_map(size_t bytes, int prot, int flags, int fd, uint64_t offset);

/* Puts anonymous private zero pages over a mapping of ours. Returns 0 or -errno. */
long dft_memory_replace(void *at, size_t bytes);

#endif
