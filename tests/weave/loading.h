/* SPDX-License-Identifier: MIT */
/* What the programs and libraries of test_loader.py share: each says what the loader has answered
 * to it. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* A message of dlerror, or the name of what was found. */
static inline void say(const char *what, void *found)
{
    const char *error = dlerror();

    printf("%s: %s%s%s\n", what, found ? "found" : "nothing", error ? ", " : "", error ? error : "");
}

/* Calls `name` of a library; -1: there is none. */
static inline int call(void *library, const char *name, int n)
{
    int (*function)(int n) = library ? (int (*)(int))dlsym(library, name) : (int (*)(int))0;

    return function ? function(n) : -1;
}

/* Opens a library, calls a function of it, and closes it. */
static inline int call_in(const char *file, int flags, const char *name, int n)
{
    void *library = dlopen(file, flags);
    int result;

    say(file ? file : "NULL", library);
    result = call(library, name, n);
    if (library)
        dlclose(library);
    return result;
}
