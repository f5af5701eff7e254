/* SPDX-License-Identifier: MIT */
/* What files of wrappers begin with: how a wrapper is exported under the function's name. */
#ifndef DFT_WRAPPER_H
#define DFT_WRAPPER_H

#include "loader/resolve.h"

#define EXPORTED __attribute__((visibility("default")))

/* The function's own name for the linker, and a private one for the compiler: so headers and macros
 * of the C library do not get in the way. */
#define WRAPPER(type, name, prototype)                                                                                 \
    EXPORTED type dft_wrap_##name prototype __asm__(#name);                                                            \
    type dft_wrap_##name prototype

/* A function that is exported under versions alone. */
#define VERSIONED_WRAPPER(type, name, prototype)                                                                       \
    EXPORTED type dft_wrap_##name prototype __asm__("dft_wrap_" #name);                                                \
    type dft_wrap_##name prototype

/* Exports the function with this label as an old version of the symbol. Old assemblers want a label
 * for each. */
#define VERSION(label, symbol, version)                                                                                \
    ALIAS(label, dft_wrap_##label##_as_##symbol)                                                                       \
    __asm__(".symver dft_wrap_" #label "_as_" #symbol ", " #symbol "@" version "\n");

/* Another name of the same function. */
#define ALIAS(name, alias) __asm__(".globl " #alias "\n\t.type " #alias ", %function\n\t.set " #alias ", " #name "\n");

#endif
