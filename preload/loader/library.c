/* SPDX-License-Identifier: MIT */
/* Looks names up in loaded libraries, by the two hash tables of ELF and by symbol versions. */
#include "loader/library.h"

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>

static const void *absolute(const struct dft_library *library, ElfW(Addr) value)
{
    return (const void *)(value < library->base ? value + library->base : value);
}

static void read_tag(struct dft_library *library, const ElfW(Dyn) * entry, size_t *soname)
{
    const void *at = absolute(library, entry->d_un.d_ptr);

    switch (entry->d_tag) {
    case DT_SYMTAB:
        library->symbols = at;
        break;
    case DT_STRTAB:
        library->strings = at;
        break;
    case DT_SONAME:
        *soname = entry->d_un.d_val;
        break;
    case DT_GNU_HASH:
        library->gnu_hash = at;
        break;
    case DT_HASH:
        library->sysv_hash = at;
        break;
    case DT_VERSYM:
        library->versions = at;
        break;
    case DT_VERDEF:
        library->definitions = at;
        break;
    case DT_VERNEED:
        library->needs = at;
        break;
    case DT_RELA:
        library->relocations = at;
        break;
    case DT_RELASZ:
        library->nrelocations = entry->d_un.d_val / sizeof(ElfW(Rela));
        break;
    case DT_JMPREL:
        library->plt_relocations = at;
        break;
    case DT_PLTRELSZ:
        library->nplt_relocations = entry->d_un.d_val / sizeof(ElfW(Rela));
        break;
    default:
        break;
    }
}

const ElfW(Dyn) * dft_library_dynamic(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            return (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    return NULL;
}

void dft_library_read(struct dft_library *library, ElfW(Addr) base, const ElfW(Dyn) * dynamic)
{
    size_t soname = 0;

    *library = (struct dft_library){.base = base, .dynamic = dynamic};
    for (const ElfW(Dyn) *d = dynamic; d && d->d_tag != DT_NULL; d++)
        read_tag(library, d, &soname);
    if (!library->symbols)
        library->strings = NULL;
    if (library->strings && soname)
        library->soname = library->strings + soname;
}

/* The name of a symbol's version; NULL when it has none. */
static const char *version_of(const struct dft_library *library, uint32_t index)
{
    const ElfW(Verdef) *at = library->versions ? library->definitions : NULL;

    for (; at; at = at->vd_next ? (const ElfW(Verdef) *)((const char *)at + at->vd_next) : NULL)
        if (at->vd_ndx == (library->versions[index] & 0x7fff) && !(at->vd_flags & VER_FLG_BASE))
            return library->strings + ((const ElfW(Verdaux) *)((const char *)at + at->vd_aux))->vda_name;
    return NULL;
}

const char *dft_library_needed_version(const struct dft_library *library, uint32_t symbol)
{
    const ElfW(Verneed) *at = library->versions ? library->needs : NULL;

    for (; at; at = at->vn_next ? (const ElfW(Verneed) *)((const char *)at + at->vn_next) : NULL) {
        const ElfW(Vernaux) *version = (const ElfW(Vernaux) *)((const char *)at + at->vn_aux);

        for (unsigned i = 0; i < at->vn_cnt; i++) {
            if ((version->vna_other & 0x7fff) == (library->versions[symbol] & 0x7fff))
                return library->strings + version->vna_name;
            version = (const ElfW(Vernaux) *)((const char *)version + version->vna_next);
        }
    }
    return NULL;
}

/* --- one name --------------------------------------------------------------------------------- */

/* A search and its result. Without `all`, the result is the first symbol that fits best. */
struct search {
    const char *name, *version;
    int no_old; /* no old versions */
    const ElfW(Sym) * best;
    void **all;
    size_t found, capacity;
};

/* Calls a resolver (IFUNC), as the loader does. */
static ElfW(Addr) choose(ElfW(Addr) resolver)
{
#if defined(__aarch64__)
    const uint64_t capabilities[3] = {sizeof capabilities, getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};

    return ((ElfW(Addr)(*)(uint64_t, const uint64_t *))resolver)(capabilities[1] | UINT64_C(1) << 62, capabilities);
#else
    return ((ElfW(Addr)(*)(void))resolver)();
#endif
}

static void *address_of(const struct dft_library *library, const ElfW(Sym) * symbol)
{
    ElfW(Addr) address = library->base + symbol->st_value;

    if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
        address = choose(address);
    return (void *)address;
}

/* 0: another symbol. 1: an old version. 2: the default version or the requested one. */
static int fits(const struct dft_library *library, uint32_t index, const struct search *search)
{
    const ElfW(Sym) *symbol = &library->symbols[index];

    if (symbol->st_shndx == SHN_UNDEF || strcmp(library->strings + symbol->st_name, search->name))
        return 0;
    if (search->version) {
        const char *has = version_of(library, index);

        return !has || !strcmp(has, search->version) ? 2 : 0; /* as the loader does */
    }
    return !library->versions || !(library->versions[index] & 0x8000) ? 2 : !search->no_old;
}

/* Is the symbol a function? Assembly code often omits the type. */
static int is_function(const ElfW(Sym) * symbol)
{
    unsigned type = ELF64_ST_TYPE(symbol->st_info);

    return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

/* Returns nonzero when no later symbol can fit better. */
static int look_at(const struct dft_library *library, uint32_t index, struct search *search)
{
    int fit = fits(library, index, search);

    if (fit && search->all) {
        if (is_function(&library->symbols[index]) && search->found < search->capacity)
            search->all[search->found++] = address_of(library, &library->symbols[index]);
        return 0;
    }
    if (fit)
        search->best = &library->symbols[index];
    return fit == 2;
}

static void search_gnu(const struct dft_library *library, struct search *search)
{
    const uint32_t *table = library->gnu_hash;
    uint32_t buckets = table[0], first = table[1], bloom_words = table[2], bloom_shift = table[3], hash = 5381;
    const ElfW(Addr) *bloom = (const ElfW(Addr) *)(table + 4);
    const uint32_t *bucket = (const uint32_t *)(bloom + bloom_words), *chain = bucket + buckets;
    enum { WORD_BITS = 8 * sizeof(ElfW(Addr)) };

    for (const unsigned char *c = (const unsigned char *)search->name; *c; c++)
        hash = hash * 33 + *c;
    if (!buckets || !(bloom[hash / WORD_BITS % bloom_words] >> hash % WORD_BITS &
                      bloom[hash / WORD_BITS % bloom_words] >> (hash >> bloom_shift) % WORD_BITS & 1))
        return;
    for (uint32_t i = bucket[hash % buckets]; i >= first && i; i++) {
        if ((chain[i - first] | 1) == (hash | 1) && look_at(library, i, search))
            return;
        if (chain[i - first] & 1)
            return;
    }
}

static void search_sysv(const struct dft_library *library, struct search *search)
{
    const uint32_t *table = library->sysv_hash, *bucket = table + 2, *chain = bucket + table[0];
    uint32_t hash = 0;

    for (const unsigned char *c = (const unsigned char *)search->name; *c; c++) {
        hash = (hash << 4) + *c;
        hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
    }
    for (uint32_t i = table[0] ? bucket[hash % table[0]] : 0; i; i = chain[i])
        if (look_at(library, i, search))
            return;
}

static void run(const struct dft_library *library, struct search *search)
{
    if (!library->strings)
        return;
    if (library->gnu_hash)
        search_gnu(library, search);
    else if (library->sysv_hash)
        search_sysv(library, search);
}

void *dft_library_find(const struct dft_library *library, const char *name, const char *version)
{
    struct search search = {.name = name, .version = version};

    run(library, &search);
    return search.best ? address_of(library, search.best) : NULL;
}

void *dft_library_find_default(const struct dft_library *library, const char *name)
{
    struct search search = {.name = name, .no_old = 1};

    run(library, &search);
    return search.best ? address_of(library, search.best) : NULL;
}

int dft_library_defines(const struct dft_library *library, const char *name, const char *version)
{
    struct search search = {.name = name, .version = version, .no_old = !version};

    run(library, &search);
    return search.best != NULL;
}

size_t dft_library_find_all(const struct dft_library *library, const char *name, const char *version, void **addresses,
                            size_t capacity)
{
    struct search search = {.name = name, .version = version, .all = addresses, .capacity = capacity};

    run(library, &search);
    return search.found;
}
