/* SPDX-License-Identifier: MIT */
/* Functions of the C library that we call ourselves, found by name. A reference of the linker would
 * ask for their newest version, and no older C library would then load this library. */
#ifndef DFT_OWN_CALLS_H
#define DFT_OWN_CALLS_H

#include "os/own.h"

/* Constructor only, after dft_resolve(). Also makes dft_is_single() right. */
void dft_own_init(void);

/* Is the C library glibc? All but the wrappers relies on that. After dft_own_init(). */
int dft_own_has_glibc(void);

/* Finds the functions of keys, which lie in libpthread before glibc 2.34. Returns 0 when the process
 * has none. Any time after dft_own_init(). */
int dft_own_find_keys(void);

/* The C library's own function. NULL: the C library lacks it. Any time after the constructor. */
void *dft_own_in_c_library(const char *name);

/* dlopen and its relatives. NULL: their library is not loaded. */
void *dft_own_find_loader(const char *name);

/* Loads a library, as dlopen with RTLD_NOW does. Returns its handle. NULL: it cannot be loaded.
 * Constructor only. */
void *dft_own_load(const char *name);
/* The address of a symbol of the library behind this handle. NULL: the library lacks it. */
void *dft_own_in_loaded(const void *handle, const char *name);

#endif
