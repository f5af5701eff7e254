/* SPDX-License-Identifier: MIT */
/* What the wrappers of calls on mappings do around the real call, whichever way it is made: by the
 * C library's function or through syscall(). */
#ifndef DFT_WRAP_MAPS_H
#define DFT_WRAP_MAPS_H

#include <stddef.h>
#include <sys/types.h>

#include "format/calls.h"

typedef void *dft_make_map(void *address, size_t length, int prot, int flags, int fd, off_t offset);
typedef int dft_make_unmap(void *address, size_t length);
typedef void *dft_make_remap(void *old, size_t old_size, size_t size, int flags, void *address);
typedef int dft_make_remap_pages(void *address, size_t size, int prot, size_t page, int flags);
/* how: flags or advice, if there are any. */
typedef int dft_make_on_mapped(void *address, size_t length, int how);

void *dft_map(void *address, size_t length, int prot, int flags, int fd, off_t offset, dft_make_map *make);
int dft_unmap(void *address, size_t length, dft_make_unmap *make);
void *dft_remap(void *old, size_t old_size, size_t size, int flags, void *address, dft_make_remap *make);
int dft_remap_pages(void *address, size_t size, int prot, size_t page, int flags, dft_make_remap_pages *make);
int dft_on_mapped(enum dft_call_number number, void *address, size_t length, int how, dft_make_on_mapped *make);

#endif
