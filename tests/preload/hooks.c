/* SPDX-License-Identifier: MIT */
/* Hooks of a program's, or a library's, own: they count their calls in all threads, and say so at
 * the end. Not instrumented itself. */
#include <stdio.h>

static long entered, left;

void __cyg_profile_func_enter(void *function, void *call_site);
void __cyg_profile_func_exit(void *function, void *call_site);
void hooks_say(void);

void __cyg_profile_func_enter(void *function, void *call_site)
{
    (void)function;
    (void)call_site;
    __atomic_add_fetch(&entered, 1, __ATOMIC_RELAXED);
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
    (void)function;
    (void)call_site;
    __atomic_add_fetch(&left, 1, __ATOMIC_RELAXED);
}

__attribute__((destructor)) void hooks_say(void)
{
    fprintf(stderr, "own hooks: %ld %ld\n", entered, left);
}
