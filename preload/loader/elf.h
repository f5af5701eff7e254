/* SPDX-License-Identifier: MIT */
/* ELF images in memory. Only reads memory. library.h interprets the symbols of an image. */
#ifndef DFT_ELF_H
#define DFT_ELF_H

#include <link.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the program headers of an image, and their number. NULL: no image begins here, or the
 * headers lie behind its first page. */
const ElfW(Phdr) * dft_elf_parts(const void *image, unsigned *count);

/* Is this an image of this machine's word size? */
int dft_elf_is_image(const void *image);

/* The first 8 bytes of the build id of an image that is loaded at `base`, as a big-endian number.
 * 0: the image has no build id. */
uint64_t dft_elf_build_id(const void *image, uint64_t base);

#endif
