/* SPDX-License-Identifier: MIT */
/* The facets of calls as users write and read them. */
#ifndef DFT_FACET_WORDS_H
#define DFT_FACET_WORDS_H

#include <stddef.h>
#include <string.h>

#include "format/facets.h"
#include "format/ops.h"

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

/* "READ": the name in ops.def. */
static inline const char *dft_op_word(uint8_t op)
{
    static const char *const words[DFT_OP_COUNT] = {
#define DFT_OP(number, name, class, io, bytes, effect, group) [number] = #name,
#include <dftrace/ops.def>
#undef DFT_OP
    };

    return op < DFT_OP_COUNT && words[op] ? words[op] : "OTHER";
}

/* "ENOENT". Returns NULL where an error has no name. */
static inline const char *dft_errno_word(uint16_t err)
{
#if __GLIBC_PREREQ(2, 32)
    return strerrorname_np(err);
#else
    (void)err;
    return NULL;
#endif
}

#endif
