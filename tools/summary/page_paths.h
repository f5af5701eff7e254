/* SPDX-License-Identifier: MIT */
/* What paths have in common. */
#ifndef DFT_PAGE_PATHS_H
#define DFT_PAGE_PATHS_H

#include <stddef.h>
#include <stdint.h>

/* The directory whose name is best taken out of these paths: that which saves the most, or `home` (the
 * program's directory; empty: not known), which need not be that of many. Returns its length, in the
 * path *of; 0: none. */
size_t dft_page_base(const char *const *paths, uint32_t count, const char *home, uint32_t *of);

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
