/* SPDX-License-Identifier: MIT */
/* Modules (programs and libraries) by path and build id, in lists of whoever knows something of them. */
#ifndef DFT_MODULES_H
#define DFT_MODULES_H

#include <stddef.h>
#include <stdint.h>

/* The first member of what is known of a module. */
struct dft_module {
    struct dft_module *next;
    char *path;
    uint64_t build_id;
};

/* The module in a list; a new one, of `bytes` bytes with zeros behind these members, is put there first (*added). NULL: no memory. The caller
 * keeps others from the list meanwhile; modules stay for good. */
void *dft_module_get(struct dft_module **list, const char *path, uint64_t build_id, size_t bytes, int *added);

#endif
