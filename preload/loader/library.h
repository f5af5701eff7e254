/* SPDX-License-Identifier: MIT */
/* The symbols of a loaded library, by name and version, as the loader looks them up. Only reads
 * memory: takes no lock and calls no function of the loader. */
#ifndef DFT_LIBRARY_H
#define DFT_LIBRARY_H

#include <link.h>
#include <stddef.h>
#include <stdint.h>

struct dft_library {
    ElfW(Addr) base;
    const ElfW(Dyn) * dynamic;
    const ElfW(Sym) * symbols; /* with `strings` NULL the library has no symbols to look up */
    const char *strings;
    const char *soname; /* NULL: none */
    const uint32_t *gnu_hash;
    const uint32_t *sysv_hash;
    const ElfW(Half) * versions;
    const ElfW(Verdef) * definitions; /* the versions that the library defines */
    const ElfW(Verneed) * needs;      /* the versions that it needs of others */
    const ElfW(Rela) * relocations, *plt_relocations;
    size_t nrelocations, nplt_relocations;
};

/* The dynamic section of a library that dl_iterate_phdr shows. NULL: it has none. */
const ElfW(Dyn) * dft_library_dynamic(const struct dl_phdr_info *info);

void dft_library_read(struct dft_library *library, ElfW(Addr) base, const ElfW(Dyn) * dynamic);

/* Returns the address of a function. NULL: the library does not define it. Without a version, the
 * default version is preferred to an old one. A library without versions matches any version. */
void *dft_library_find(const struct dft_library *library, const char *name, const char *version);

/* As dft_library_find(), but only the default version or an unversioned symbol. Old versions are
 * only for programs that were linked with them. */
void *dft_library_find_default(const struct dft_library *library, const char *name);

/* Does the library define the name? Runs no code of the library, which may still be loading. */
int dft_library_defines(const struct dft_library *library, const char *name, const char *version);

/* Finds all addresses (versions) of a function, at most `capacity`. Returns their number. */
size_t dft_library_find_all(const struct dft_library *library, const char *name, const char *version, void **addresses,
                            size_t capacity);

/* The version that a reference to another library's symbol names. NULL: none. */
const char *dft_library_needed_version(const struct dft_library *library, uint32_t symbol);

#endif
