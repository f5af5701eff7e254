/* SPDX-License-Identifier: MIT */
/* What a loaded library says of itself: its symbols, by name and version, as the loader looks them up. Reads memory only: takes no lock
 * and calls nothing of the loader. */
#ifndef DFT_LIBRARY_H
#define DFT_LIBRARY_H

#include <link.h>
#include <stddef.h>
#include <stdint.h>

struct dft_library {
    ElfW(Addr) base;
    const ElfW(Dyn) * dynamic;
    const ElfW(Sym) * symbols; /* with `strings` NULL: there is nothing to look up */
    const char *strings;
    const char *soname; /* NULL: none */
    const uint32_t *gnu_hash;
    const uint32_t *sysv_hash;
    const ElfW(Half) * versions;
    const ElfW(Verdef) * definitions; /* of versions */
    const ElfW(Verneed) * needs;      /* of others' versions */
    const ElfW(Rela) * relocations, *plt_relocations;
    size_t nrelocations, nplt_relocations;
};

void dft_library_read(struct dft_library *library, ElfW(Addr) base, const ElfW(Dyn) * dynamic);

/* The address of a function; NULL: not defined there. Without a version the default one, else an old one; a library without versions has
 * what is asked for. */
void *dft_library_find(const struct dft_library *library, const char *name, const char *version);

/* Likewise, the default version or none at all: an old one is for those alone that were linked with it. */
void *dft_library_find_default(const struct dft_library *library, const char *name);

/* Does the library have the name? Runs nothing of the library, which may be in the middle of being loaded. */
int dft_library_defines(const struct dft_library *library, const char *name, const char *version);

/* All addresses that a function has there (its versions), at most `room`; returns their number. */
size_t dft_library_find_all(const struct dft_library *library, const char *name, const char *version, void **addresses,
                            size_t room);

/* The version that a reference to another library's symbol asks for; NULL: none. */
const char *dft_library_needed_version(const struct dft_library *library, uint32_t symbol);

#endif
