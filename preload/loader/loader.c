/* SPDX-License-Identifier: MIT */
/* Finds the loader's list of libraries. */
#include "loader/loader.h"

#include <stddef.h>
#include <string.h>

/* What loaders keep for debuggers: glibc's has the first name, musl's the second. Weak references: they
 * need no library of their own. The program's dynamic section is of no use: the kernel shows that of the
 * loader where a user runs the program by its loader. */
extern struct r_debug loader_debug __asm__("_r_debug") __attribute__((weak));
extern const struct r_debug *const musl_debug __asm__("_dl_debug_addr") __attribute__((weak));

const struct link_map *dft_loader_libraries(void)
{
    const struct r_debug *loader = &loader_debug ? &loader_debug : &musl_debug ? musl_debug : NULL;

    return loader ? loader->r_map : NULL;
}

int dft_loader_is_called(const struct link_map *map, const char *with)
{
    const char *name = map->l_name ? strrchr(map->l_name, '/') : NULL;

    return name && !strncmp(name, with, strlen(with));
}
