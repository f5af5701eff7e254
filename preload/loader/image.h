/* SPDX-License-Identifier: MIT */
/* The loaded library that an address lies in. */
#ifndef DFT_IMAGE_H
#define DFT_IMAGE_H

#include <link.h>
#include <stdint.h>

struct dft_image {
    const struct link_map *map;
    uint64_t from, to;     /* where it lies in memory */
    const uint8_t *frames; /* its PT_GNU_EH_FRAME; NULL: none */
};

/* Returns 0, or -1 when no library is there. Any thread, after dft_own_init(). Takes no lock. */
int dft_image_find(struct dft_image *image, uint64_t address);

#endif
