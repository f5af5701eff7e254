/* SPDX-License-Identifier: MIT */
/* The pattern of many like paths, with the numbers that are the same in all. */
#ifndef DFT_LIKE_PATHS_H
#define DFT_LIKE_PATHS_H

#include <stdint.h>

/* Paths of one pattern (base/pattern.h). All zero at first. */
struct dft_like_paths {
    const char *first; /* the first one, which must live as long */
    uint32_t length, count;
    uint64_t varies; /* 1 << number of those numbers in it that are not the same in all */
};
void dft_like_paths_add(struct dft_like_paths *like, const char *path, uint32_t length);
/* The path with # for what varies. The caller frees it; NULL: no memory. */
char *dft_like_paths_text(const struct dft_like_paths *like);

#endif
