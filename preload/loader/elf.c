/* SPDX-License-Identifier: MIT */
/* Owns the headers of ELF images in memory. */
#include "loader/elf.h"

#include <string.h>

#define FIRST_PAGE 4096u /* the least that is mapped of an image */

int dft_elf_is_image(const void *image)
{
    const ElfW(Ehdr) *head = image;

    return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
           head->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32);
}

const ElfW(Phdr) * dft_elf_parts(const void *image, unsigned *count)
{
    const ElfW(Ehdr) *head = image;

    if (!dft_elf_is_image(image) || head->e_phoff + head->e_phnum * sizeof(ElfW(Phdr)) > FIRST_PAGE)
        return NULL;
    *count = head->e_phnum;
    return (const ElfW(Phdr) *)((const char *)image + head->e_phoff);
}

/* Finds the build id in one segment of notes. */
static uint64_t find_build_id(const char *at, const char *end)
{
    uint64_t id = 0;

    while (at + sizeof(ElfW(Nhdr)) <= end && !id) {
        const ElfW(Nhdr) *note = (const void *)at;
        const char *text = at + sizeof *note + ((note->n_namesz + 3u) & ~3u);

        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && note->n_descsz >= 8)
            for (int byte = 0; byte < 8; byte++)
                id = id << 8 | (uint8_t)text[byte];
        at = text + ((note->n_descsz + 3u) & ~3u);
    }
    return id;
}

uint64_t dft_elf_build_id(const void *image, uint64_t base)
{
    unsigned count = 0;
    const ElfW(Phdr) *parts = dft_elf_parts(image, &count);
    uint64_t id = 0;

    for (unsigned i = 0; i < count && !id; i++)
        if (parts[i].p_type == PT_NOTE) {
            const char *at = (const char *)base + parts[i].p_vaddr; /* NOLINT: where the loader has put it */

            id = find_build_id(at, at + parts[i].p_memsz);
        }
    return id;
}
