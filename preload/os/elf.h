/* SPDX-License-Identifier: MIT */
/* ELF images as they lie in memory. Reads memory only. What their symbols mean: library.h. */
#ifndef DFT_ELF_H
#define DFT_ELF_H

#include <link.h>
#include <stddef.h>
#include <stdint.h>

/* The program headers of an image, and their number; NULL: no image begins here, or they lie behind its first page. */
const ElfW(Phdr) * dft_elf_parts(const void *image, unsigned *count);

/* Is it an image of this machine's word size? */
int dft_elf_is_image(const void *image);

/* The first 8 bytes of the build id of an image that is loaded at `base`, as a big-endian number; 0: there is none. */
uint64_t dft_elf_build_id(const void *image, uint64_t base);

#endif
