/* SPDX-License-Identifier: MIT */
/* The facets of calls as users write and read them. */
#ifndef DFT_FACET_WORDS_H
#define DFT_FACET_WORDS_H

#include <stddef.h>

#include "format/facets.h"

/* Returns NULL for a number of no class. */
static inline const char *dft_io_word(uint8_t io)
{
    static const char *const words[DFT_IO_COUNT] = {"none", "read", "write", "sync", "meta", "wait", "startup"};

    return io < DFT_IO_COUNT ? words[io] : NULL;
}

/* Returns NULL for DFT_ACCESS_NONE. */
static inline const char *dft_access_word(uint8_t access)
{
    static const char *const words[DFT_ACCESS_COUNT] = {NULL, "random", "strided", "sequential", "consecutive"};

    return access < DFT_ACCESS_COUNT ? words[access] : NULL;
}

#endif
