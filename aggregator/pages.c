/* Growing arrays: on the heap below PAGES_MIN bytes, mappings of their own from there on. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mremap */
#endif
#include "pages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGES_MIN ((size_t)256 << 10)

void *dft_pages_grow(void *old, size_t old_bytes, size_t bytes)
{
    void *new;

    if (bytes < PAGES_MIN)
        return realloc(old, bytes);
    if (old_bytes >= PAGES_MIN) {
        new = mremap(old, old_bytes, bytes, MREMAP_MAYMOVE);
        return new == MAP_FAILED ? NULL : new;
    }
    new = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (new == MAP_FAILED)
        return NULL;
    if (old_bytes)
        memcpy(new, old, old_bytes);
    free(old);
    return new;
}

void dft_pages_free(void *array, size_t bytes)
{
    if (bytes >= PAGES_MIN)
        munmap(array, bytes);
    else
        free(array);
}
