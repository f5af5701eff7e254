/* SPDX-License-Identifier: MIT */
/* Finds the function of an address of this process, by the symbols of the files on disk. */
#ifndef DFT_SYMBOLS_H
#define DFT_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* A file that is mapped for a search. Zeros at first. */
struct dft_symbols {
    char path[1024];
    const char *bytes;
    size_t length;
};

struct dft_symbol_place {
    /* path of the file; "" when the address lies in no file; valid until the next search */
    const char *module;
    uint64_t in_module;   /* the address in the numbering of the file */
    const char *function; /* NULL: not known */
    uint64_t in_function;
};

/* Reads /proc/self/maps and the file with system calls. Allocates nothing. One thread at a time. */
void dft_symbols_find(struct dft_symbols *symbols, uint64_t address, struct dft_symbol_place *place);

#endif
