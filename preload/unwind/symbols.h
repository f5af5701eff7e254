/* SPDX-License-Identifier: MIT */
/* From an address of this process to the function that it lies in, as the symbols of the files on
 * disk have it. */
#ifndef DFT_SYMBOLS_H
#define DFT_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* A file that is mapped to be looked through; zeros at first. */
struct dft_symbols {
    char path[1024];
    const char *bytes;
    size_t length;
};

struct dft_place {
    const char *module;   /* its path, "" when the address lies in no file; valid until the next search */
    uint64_t in_module;   /* the address as the module's file has it */
    const char *function; /* NULL: not known */
    uint64_t in_function;
};

/* Reads /proc/self/maps and the file with system calls; allocates nothing. One thread, once at a
 * time. */
void dft_symbols_find(struct dft_symbols *symbols, uint64_t address, struct dft_place *place);

#endif
