/* SPDX-License-Identifier: MIT */
/* What paths have in common. */
#ifndef DFT_PAGE_PATHS_H
#define DFT_PAGE_PATHS_H

#include <stddef.h>
#include <stdint.h>

/* The directory whose name is best taken out of these paths: that which saves the most, or `home`
 * (the program's directory; empty: not known), which need not be that of many. Returns its length,
 * in the path *of; 0: none. */
size_t dft_page_base(const char *const *paths, uint32_t count, const char *home, uint32_t *of);

#endif
