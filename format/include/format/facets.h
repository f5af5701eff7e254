/* SPDX-License-Identifier: MIT */
/* Facets of a call: traits by which rows are distinguished besides what was called. Each follows from
 * the event alone, so that rows and events give the same groups. Their numbers are stored in trace
 * files and never change. */
#ifndef DFT_FACETS_H
#define DFT_FACETS_H

#include <stdint.h>

/* What a call is about, for people. A call on a file of a class of its own (classes.def) has the
 * class of the file, any other call that of its operation (ops.def). */
enum dft_io {
    DFT_IO_NONE = 0,
    DFT_IO_READ = 1,
    DFT_IO_WRITE = 2,
    DFT_IO_SYNC = 3,
    DFT_IO_META = 4,
    DFT_IO_WAIT = 5,
    DFT_IO_STARTUP = 6,
    DFT_IO_COUNT = 7
};

/* Where a data access lies, seen from the last one on the same open file description. The first one is seen from where
 * the description stood: at the start of the file, at its end for appends, or where it was inherited. (In older traces
 * the first one is random.) */
enum dft_access {
    DFT_ACCESS_NONE = 0,        /* no data access, or no offset */
    DFT_ACCESS_RANDOM = 1,      /* none of these */
    DFT_ACCESS_STRIDED = 2,     /* as far from the start of the last one as that was from the one before */
    DFT_ACCESS_SEQUENTIAL = 3,  /* behind the end of the last one */
    DFT_ACCESS_CONSECUTIVE = 4, /* at the end of the last one */
    DFT_ACCESS_COUNT = 5
};

/* The class of a number of bytes that were requested. 0: the call is about no bytes. Then 0 bytes,
 * 1, 2 to 63, 64 to 1,023; from 1 KiB on, a class goes up to four times its lowest number. The last
 * one begins at 1 GiB. */
#define DFT_SIZE_CLASSES    16u
#define DFT_SIZE_CLASS_NONE 0u

static inline uint8_t dft_size_class(uint64_t bytes)
{
    static const uint8_t classes[64] = {2,  3,  3,  3,  3,  3,  4,  4,  4,  4,  5,  5,  6,  6,  7,  7,
                                        8,  8,  9,  9,  10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15,
                                        15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
                                        15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15};

    return bytes ? classes[63 - __builtin_clzll(bytes)] : 1;
}

/* The least number of bytes of a class; that of the class behind the last one is 2^64 - 1. */
static inline uint64_t dft_size_class_low(uint8_t class)
{
    static const uint8_t bits[] = {0, 0, 0, 1, 6, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30};

    if (class >= DFT_SIZE_CLASSES)
        return UINT64_MAX;
    return class < 2 ? 0 : UINT64_C(1) << bits[class];
}

/* The facets of an event besides its class, in one number: errno in the lowest 16 bits, then the
 * size class (4 bits), then the access (3 bits). `is_data`: its operation moves bytes; `calls` of a
 * burst: it requested `asked` bytes in so many calls; `bits`: DFT_BIT_SEQUENTIAL (1) and
 * DFT_BIT_CONSECUTIVE (2). */
static inline uint32_t dft_facets_of(int is_data, uint64_t asked, uint32_t calls, int64_t offset, uint32_t bits,
                                     uint16_t err)
{
    static const uint8_t accesses[4] = {DFT_ACCESS_RANDOM, DFT_ACCESS_SEQUENTIAL, DFT_ACCESS_STRIDED,
                                        DFT_ACCESS_CONSECUTIVE};
    uint32_t facets = err;

    if (!is_data)
        return facets;
    facets |= (uint32_t)dft_size_class(__builtin_expect(calls > 1, 0) ? asked / calls : asked) << 16;
    return err || offset < 0 ? facets : facets | (uint32_t)accesses[bits & 3] << 20;
}

static inline uint16_t dft_facets_err(uint32_t facets)
{
    return (uint16_t)facets;
}

static inline uint8_t dft_facets_size_class(uint32_t facets)
{
    return facets >> 16 & 15;
}

static inline uint8_t dft_facets_access(uint32_t facets)
{
    return facets >> 20 & 7;
}

#endif
