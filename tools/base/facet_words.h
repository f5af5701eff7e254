/* SPDX-License-Identifier: MIT */
/* The facets of calls as users write and read them. */
#ifndef DFT_FACET_WORDS_H
#define DFT_FACET_WORDS_H

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "format/facets.h"
#include "format/format.h"
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

/* "begin", "instant" ... Returns NULL for a complete event. */
static inline const char *dft_phase_word(uint8_t phase)
{
    static const char *const words[] = {
        [DFT_PHASE_BEGIN] = "begin",         [DFT_PHASE_END] = "end",
        [DFT_PHASE_INSTANT] = "instant",     [DFT_PHASE_ASYNC_BEGIN] = "async_begin",
        [DFT_PHASE_ASYNC_END] = "async_end", [DFT_PHASE_FLOW_START] = "flow_start",
        [DFT_PHASE_FLOW_END] = "flow_end",   [DFT_PHASE_COUNTER] = "counter",
        [DFT_PHASE_METADATA] = "metadata",   [DFT_PHASE_FLOW_STEP] = "flow_step",
    };

    return phase < sizeof words / sizeof *words ? words[phase] : "unknown";
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

/* A number of bytes that begins a size class: a power of two. */
static inline const char *dft_size_number(char *text, uint64_t bytes)
{
    unsigned unit = bytes >= UINT64_C(1) << 30 ? 3 : bytes >= 1 << 20 ? 2 : bytes >= 1 << 10 ? 1 : 0;
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};

    snprintf(text, 12, "%u %s", (unsigned)(bytes >> 10 * unit), units[unit]);
    return text;
}

/* "0 B", "4 KiB-16 KiB", "1 GiB or more". */
#define DFT_SIZE_CLASS_CAPACITY 24u
static inline void dft_size_class_text(char *text, uint8_t class)
{
    uint64_t low = dft_size_class_low(class);
    char a[12], b[12];

    if (class == 1)
        snprintf(text, DFT_SIZE_CLASS_CAPACITY, "0 B");
    else if (class + 1u >= DFT_SIZE_CLASSES)
        snprintf(text, DFT_SIZE_CLASS_CAPACITY, "%s or more", dft_size_number(a, low));
    else if (dft_size_class_low(class + 1) == low + 1)
        snprintf(text, DFT_SIZE_CLASS_CAPACITY, "%s", dft_size_number(a, low));
    else
        snprintf(text, DFT_SIZE_CLASS_CAPACITY, "%s-%s", dft_size_number(a, low),
                 dft_size_number(b, dft_size_class_low((uint8_t)(class + 1))));
}

#endif
