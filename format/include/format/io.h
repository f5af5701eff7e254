/* SPDX-License-Identifier: MIT */
/* What is input and output: the one definition, for all tools. */
#ifndef DFT_IO_H
#define DFT_IO_H

#include "format/facets.h"

/* Calls of these classes are in I/O. Waiting is not, nor are regions. */
#define DFT_CLASSES_IO                                                                                                 \
    (1u << DFT_IO_READ | 1u << DFT_IO_WRITE | 1u << DFT_IO_SYNC | 1u << DFT_IO_META | 1u << DFT_IO_STARTUP)
/* The part of it that programs do themselves. */
#define DFT_CLASSES_OWN (DFT_CLASSES_IO & ~(1u << DFT_IO_STARTUP))

/* Takes an enum dft_io. */
static inline int dft_is_io(unsigned class)
{
    return DFT_CLASSES_IO >> class & 1;
}

#endif
