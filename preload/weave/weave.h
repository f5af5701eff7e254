/* SPDX-License-Identifier: MIT */
/* DFTRACER_WEAVE: functions of any library become events without the program being changed. Weave
 * files say which (weave_rules.c); calls that cross a library's boundary are sent through closures
 * of libffi (weave_closure.c), by changing the addresses that the loader has put into the callers
 * (weave_patch.c), also of what is loaded or looked up later (weave_loader.c).
 *
 *   who                                         may
 *   the start of the program (one thread)       dft_weave_init
 *   whoever loads a library                     dft_weave_scan: one at a time, under a lock
 *   any thread                                  calls of woven functions, dft_weave_replacement */
#ifndef DFT_WEAVE_H
#define DFT_WEAVE_H

#include <stddef.h>
#include <stdint.h>

#include "settings/config.h"
#include "settings/message.h"

#ifdef DFT_HAVE_FFI

/* When the option is set: reads the weave files, loads libffi, and weaves what is loaded. Once,
 * before main, when the C library is ready. */
void dft_weave_init(void);

/* What is to be called instead of the function at this address; itself when it is not woven. So with
 * dlopen and its relatives. */
void *dft_weave_replacement(void *function);

/* After a dlclose. */
void dft_weave_unloaded(void);

/* Around a fork: no scan is under way when it happens. The second in the parent and in the
 * child. */
void dft_weave_forking(void);
void dft_weave_fork_is_over(void);
/* In a forked child. */
void dft_weave_forked(void);

/* Names of functions that were not found in any library so far, each ended by a newline; returns
 * the length, cut to `capacity`. Installed files know more than one version of a library: their
 * functions are named only where nothing of the library was found. */
size_t dft_weave_unmet(char *text, size_t capacity);
#else
static inline void dft_weave_init(void)
{
    if (dft_config.enable && *dft_config.weave)
        dft_message(DFT_LOG_ERROR, "DFTRACER_WEAVE: this library was built without libffi; no function is woven", NULL);
}

static inline void *dft_weave_replacement(void *function)
{
    return function;
}

static inline void dft_weave_unloaded(void) {}
static inline void dft_weave_forking(void) {}
static inline void dft_weave_fork_is_over(void) {}
static inline void dft_weave_forked(void) {}

static inline size_t dft_weave_unmet(char *text, size_t capacity)
{
    (void)text;
    (void)capacity;
    return 0;
}
#endif

#endif
