/* SPDX-License-Identifier: MIT */
/* What files of wrappers begin with: how a wrapper is exported under the function's name. */
#ifndef DFT_WRAPPER_H
#define DFT_WRAPPER_H

#include "os/resolve.h"

#define EXPORTED __attribute__((visibility("default")))

/* The function's own name for the linker, and a private one for the compiler: so headers and macros
 * of the C library do not get in the way. */
#define WRAPPER(type, name, prototype)                                                                                 \
    EXPORTED type dft_wrap_##name prototype __asm__(#name);                                                            \
    type dft_wrap_##name prototype

/* Another name of the same function. */
#define ALIAS(name, alias) __asm__(".globl " #alias "\n\t.type " #alias ", %function\n\t.set " #alias ", " #name "\n");

#endif
