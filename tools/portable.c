/* SPDX-License-Identifier: MIT */
/* Owns what stands in for dlopen in the statically linked tools. A library of the machine would bring
 * that machine's C library along, beside the one that is linked in. The linker's warning about dlopen is about the C
 * library's own one, which it has for itself. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* Linked in where there is a static libstdc++. */
char *__cxa_demangle(const char *name, char *out, size_t *length, int *status) __attribute__((weak));

static char demangler[] = "libstdc++.so.6";

void *dlopen(const char *name, int flags)
{
    (void)flags;
    return name && __cxa_demangle && !strcmp(name, demangler) ? demangler : NULL;
}

void *dlsym(void *handle, const char *name)
{
    return handle == demangler && !strcmp(name, "__cxa_demangle") ? (void *)__cxa_demangle : NULL;
}

int dlclose(void *handle)
{
    return handle == demangler ? 0 : -1;
}

char *dlerror(void)
{
    static char text[] = "a statically linked program loads no libraries";

    return text;
}
