/* SPDX-License-Identifier: MIT */
/* Growing arrays: on the heap below PAGES_MIN bytes, mappings of their own from there on. Those of HUGE_MIN and more
 * are requested as huge pages and are whole ones, so that they lie where the kernel has such pages: rows are found by
 * hash, and with small pages every access would walk the page table. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mremap */
#endif
#include "aggregator/pages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGES_MIN ((size_t)256 << 10)
#define HUGE_MIN  ((size_t)2 << 20)

/* How long the mapping of an array of that size is. */
static size_t mapped(size_t bytes)
{
    return bytes < HUGE_MIN ? bytes : (bytes + HUGE_MIN - 1) / HUGE_MIN * HUGE_MIN;
}

static void *map(void *old, size_t old_bytes, size_t bytes)
{
    void *new = old ? mremap(old, old_bytes, bytes, MREMAP_MAYMOVE)
                    : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (new == MAP_FAILED)
        return NULL;
    if (bytes >= HUGE_MIN)
        madvise(new, bytes, MADV_HUGEPAGE); /* without, it is only slower */
    return new;
}

void *dft_pages_grow(void *old, size_t old_bytes, size_t bytes)
{
    void *new;

    if (bytes < PAGES_MIN)
        return realloc(old, bytes);
    if (old_bytes >= PAGES_MIN)
        return map(old, mapped(old_bytes), mapped(bytes));
    new = map(NULL, 0, mapped(bytes));
    if (!new)
        return NULL;
    if (old_bytes)
        memcpy(new, old, old_bytes);
    free(old);
    return new;
}

void dft_pages_free(void *array, size_t bytes)
{
    if (bytes >= PAGES_MIN)
        munmap(array, mapped(bytes));
    else
        free(array);
}
