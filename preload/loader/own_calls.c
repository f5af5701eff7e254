/* SPDX-License-Identifier: MIT */
/* Owns the functions of the C library that this library calls. Their version would be newer than
 * what old systems have, or others replace them. So they are found by name. */
#include "loader/own_calls.h"

#include <dlfcn.h>

#include "loader/library.h"
#include "loader/loader.h"
#include "loader/resolve.h"
#include "os/self.h"
#include "os/sys.h"

static struct dft_library c_library;

#if defined(__x86_64__)
#define KERNEL_CLOCK "__vdso_clock_gettime"
#else
#define KERNEL_CLOCK "__kernel_clock_gettime"
#endif

void *dft_own_in_c_library(const char *name)
{
    return dft_library_find(&c_library, name, NULL);
}

int dft_own_has_glibc(void)
{
    return dft_library_defines(&c_library, "gnu_get_libc_version", NULL);
}

/* In the C library, else in the first library whose file name begins so. The list may change while
 * it is walked. */
static void *find_in_parts(const char *library_name, const char *name)
{
    void *address = dft_own_in_c_library(name);
    const struct link_map *map = dft_loader_libraries();
    struct dft_library library;

    while (!address && map && dft_sys_can_read(map) && !dft_loader_is_called(map, library_name))
        map = map->l_next;
    if (address || !map || !dft_sys_can_read(map))
        return address;
    dft_library_read(&library, map->l_addr, map->l_ld);
    return dft_library_find(&library, name, NULL);
}

int dft_own_find_keys(void)
{
    *(void **)&dft_own.key_create = find_in_parts("/libpthread.so.", "pthread_key_create");
    *(void **)&dft_own.setspecific = find_in_parts("/libpthread.so.", "pthread_setspecific");
    return dft_own.key_create && dft_own.setspecific;
}

/* As the loader would find it for this library. A variable may have a copy in the program, which is
 * the one that is kept up to date. */
static void *find_first(const char *name)
{
    void *address = NULL;

    for (const struct link_map *map = dft_loader_libraries(); map && !address; map = map->l_next) {
        struct dft_library library;

        dft_library_read(&library, map->l_addr, map->l_ld);
        address = dft_library_find(&library, name, NULL);
    }
    return address;
}

void dft_own_init(void)
{
    const struct link_map *map = dft_loader_libraries();
    const char *single = find_first("__libc_single_threaded");

    *(void **)&dft_own.clock_gettime = find_first(KERNEL_CLOCK);
    *(void **)&dft_own.find_object = dft_resolve_symbol("_dl_find_object");
    *(void **)&dft_own.cpu_features = dft_resolve_symbol("__x86_get_cpuid_feature_leaf");
    if (single)
        dft_single = single;
    while (map && !dft_loader_is_called(map, "/libc.so."))
        map = map->l_next;
    if (!map)
        return;
    dft_library_read(&c_library, map->l_addr, map->l_ld);
    *(void **)&dft_own.on_exit = dft_own_in_c_library("on_exit");
    *(void **)&dft_own.__cxa_at_quick_exit = dft_own_in_c_library("__cxa_at_quick_exit");
}

/* Before 2.34 these functions lie in a library of their own. */
void *dft_own_find_loader(const char *name)
{
    return find_in_parts("/libdl.so.", name);
}

/* A program may lack that library. The C library loads libraries for itself by another function. */
void *dft_own_load(const char *name)
{
    void *(*load)(const char *, int);
    int flags = RTLD_NOW | RTLD_LOCAL;

    *(void **)&load = dft_own_find_loader("dlopen");
    if (!load) {
        *(void **)&load = dft_own_in_c_library("__libc_dlopen_mode");
        flags |= (int)0x80000000u; /* glibc's __RTLD_DLOPEN */
    }
    return load ? load(name, flags) : NULL;
}

void *dft_own_in_loaded(const void *loaded, const char *name)
{
    const struct link_map *map = loaded;
    struct dft_library library;

    dft_library_read(&library, map->l_addr, map->l_ld);
    return dft_library_find(&library, name, NULL);
}
