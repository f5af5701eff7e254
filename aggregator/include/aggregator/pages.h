/* SPDX-License-Identifier: MIT */
/* Arrays that grow large: moved by remapping, so that growing copies nothing and leaves no holes in
 * the heap, and what is reserved but not yet used takes no memory. Small ones lie on the heap. Off
 * line only. */
#ifndef DFT_PAGES_H
#define DFT_PAGES_H

#include <stddef.h>

/* Makes the array `bytes` long; what is new is not cleared. old_bytes: its size so far (0 with
 * NULL). Returns its new place, or NULL: no memory, and it stays as it was. Does not shrink. */
void *dft_pages_grow(void *old, size_t old_bytes, size_t bytes);
/* `bytes`: its size as last grown. */
void dft_pages_free(void *array, size_t bytes);

#endif
