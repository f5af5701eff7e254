/* SPDX-License-Identifier: MIT */
/* Finds the library of an address: by the loader's own function, else in its list. */
#include "loader/image.h"

#include <dlfcn.h>
#include <stddef.h>
#include <sys/auxv.h>

#include "loader/elf.h"
#include "loader/loader.h"
#include "os/own.h"
#include "os/sys.h"

#define PAGE UINT64_C(4096)

/* Returns the program headers of a library in the loader's list, and their number. The program
 * itself need not begin with a header. */
static const ElfW(Phdr) * parts_of(const struct link_map *map, unsigned *count)
{
    const void *image = (const void *)map->l_addr; /* NOLINT: where the library lies */

    if (map == dft_loader_libraries()) {
        *count = (unsigned)getauxval(AT_PHNUM);
        return (const ElfW(Phdr) *)getauxval(AT_PHDR); /* NOLINT: the kernel's word */
    }
    return dft_sys_can_read(image) ? dft_elf_parts(image, count) : NULL;
}

/* Reads where a library lies. Returns 1 when the address is in one of its parts. */
static int read_image(struct dft_image *image, const struct link_map *map, uint64_t address)
{
    unsigned count = 0;
    const ElfW(Phdr) *parts = parts_of(map, &count);
    int is_here = 0;

    *image = (struct dft_image){.map = map, .from = UINT64_MAX};
    for (unsigned i = 0; parts && i < count; i++) {
        uint64_t from = map->l_addr + parts[i].p_vaddr, to = from + parts[i].p_memsz;

        if (parts[i].p_type == PT_LOAD) {
            is_here |= address - from < parts[i].p_memsz;
            image->from = from < image->from ? from & -PAGE : image->from;
            image->to = to > image->to ? to : image->to;
        } else if (parts[i].p_type == PT_GNU_EH_FRAME) {
            image->frames = (const uint8_t *)from; /* NOLINT: its table */
        }
    }
    return is_here;
}

/* For C libraries without _dl_find_object (before 2.35). dl_iterate_phdr would take the loader's
 * lock. */
static int search(struct dft_image *image, uint64_t address)
{
    for (const struct link_map *map = dft_loader_libraries(); map && dft_sys_can_read(map); map = map->l_next)
        if (read_image(image, map, address))
            return 0;
    return -1;
}

int dft_image_find(struct dft_image *image, uint64_t address)
{
    struct dl_find_object object;

    if (!dft_own.find_object)
        return search(image, address);
    if (dft_own.find_object((void *)address, &object)) /* NOLINT: an address of code */
        return -1;
    *image = (struct dft_image){.map = object.dlfo_link_map,
                                .from = (uint64_t)object.dlfo_map_start,
                                .to = (uint64_t)object.dlfo_map_end,
                                .frames = object.dlfo_eh_frame};
    return 0;
}
