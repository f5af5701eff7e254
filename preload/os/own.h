/* SPDX-License-Identifier: MIT */
/* The C library's own functions that we call, once loader/own_calls.c has found them by name. */
#ifndef DFT_OWN_H
#define DFT_OWN_H

#include <pthread.h>
#include <time.h>

#include "os/hidden.h"

struct cpuid_feature;  /* from <sys/platform/x86.h> */
struct dl_find_object; /* from <dlfcn.h>, where that is new enough */

/* The C library's own functions. Others replace some of them: sanitizers, which are not ready when
 * we are loaded, and libraries that fake the time. NULL: the C library lacks it, or dft_own_init() has not run. */
struct dft_own_calls {
    /* The kernel's own, which every process has in its memory. Before glibc 2.31 that of the C library jumps
     * to nowhere until the C library's constructor has run, which is after ours. Does not set errno. */
    int (*clock_gettime)(clockid_t clock, struct timespec *now);
    int (*on_exit)(void (*handler)(int status, void *argument), void *argument);
    int (*__cxa_at_quick_exit)(void (*handler)(void *argument), void *library);
    /* the loader's _dl_find_object, since glibc 2.35 */
    int (*find_object)(void *address, struct dl_find_object *result);
    /* the loader's __x86_get_cpuid_feature_leaf, since glibc 2.33 */
    const struct cpuid_feature *(*cpu_features)(unsigned leaf);
    /* of keys; NULL: there is no library of threads so far */
    int (*key_create)(pthread_key_t *key, void (*destroy)(void *value));
    int (*setspecific)(pthread_key_t key, const void *value);
};
extern struct dft_own_calls dft_own;

#endif
