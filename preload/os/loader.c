/* SPDX-License-Identifier: MIT */
/* Finds the loader's list of libraries. */
#include "os/loader.h"

#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

/* A weak reference: it needs no library of its own, and musl has no such name. */
extern struct r_debug loader_debug __asm__("_r_debug") __attribute__((weak));

/* Every loader tells debuggers about its list in the program's dynamic section. */
static const struct r_debug *find_loader(void)
{
    const ElfW(Phdr) *parts = (const ElfW(Phdr) *)getauxval(AT_PHDR); /* NOLINT: the kernel's word */
    const ElfW(Dyn) *dynamic = NULL;
    ElfW(Addr) base = 0;

    for (unsigned long i = 0; parts && i < getauxval(AT_PHNUM); i++)
        if (parts[i].p_type == PT_PHDR)
            base = (ElfW(Addr))parts - parts[i].p_vaddr;
    for (unsigned long i = 0; parts && i < getauxval(AT_PHNUM); i++)
        if (parts[i].p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)(base + parts[i].p_vaddr);
    for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++)
        if (dynamic->d_tag == DT_DEBUG)
            return (const struct r_debug *)dynamic->d_un.d_ptr;
    return NULL;
}

const struct link_map *dft_loader_libraries(void)
{
    const struct r_debug *loader = &loader_debug ? &loader_debug : find_loader();

    return loader ? loader->r_map : NULL;
}

int dft_loader_is_called(const struct link_map *map, const char *with)
{
    const char *name = map->l_name ? strrchr(map->l_name, '/') : NULL;

    return name && !strncmp(name, with, strlen(with));
}
