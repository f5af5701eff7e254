/* Finds the real functions by walking the loader's list of libraries: dlsym takes locks, and a wrapper may run where those are
 * held (a library constructor, before ours, that waits for a thread).
 *
 * The rule is that of RTLD_NEXT: the first library behind ours in load order that defines the symbol; of several versions the
 * default one, as for a program linked today. */
#include "resolve.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

struct dft_reals dft_real;

extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

struct wanted {
    const char *name, *version; /* NULL: the default one */
    const char *type;           /* what it returns; NULL: where it is missing, nothing answers */
};

/* In the order of struct dft_reals. */
static const struct wanted wanted[] = {
#define DFT_CALL(category, op, type, name, ...) {#name, NULL, #type},
#define DFT_MODE                                DFT_CALL
#define DFT_HAND                                DFT_CALL
#define DFT_ENTRY                               DFT_CALL
#define DFT_FORMAT(category, op, name, ...)     {#name, NULL, "int"},
#define DFT_FORMAT_ENTRY                        DFT_FORMAT
#define DFT_ALIAS(...)
#define DFT_HAND_ALIAS(...)
#define DFT_SECOND(...)
#define DFT_DOOR(type, name, ...)                             {#name, NULL, #type},
#define DFT_VERSIONED(category, op, type, name, version, ...) {#name, version, NULL},
#define DFT_EVENT(...)
#include <dftrace/calls.def>
};
#define WANTED (sizeof wanted / sizeof *wanted)
_Static_assert(sizeof(struct dft_reals) == WANTED * sizeof(void *), "one name a pointer");

/* What of a library is needed to look up names. */
struct library {
    ElfW(Addr) base;
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *gnu_hash;
    const uint32_t *sysv_hash;
    const ElfW(Half) * versions;
    const ElfW(Verdef) * definitions; /* of versions */
};

static const void *absolute(const struct link_map *map, ElfW(Addr) value)
{
    return (const void *)(value < map->l_addr ? value + map->l_addr : value);
}

static void read_library(const struct link_map *map, struct library *library)
{
    *library = (struct library){.base = map->l_addr};
    for (const ElfW(Dyn) *d = map->l_ld; d && d->d_tag != DT_NULL; d++) {
        const void *at = absolute(map, d->d_un.d_ptr);

        if (d->d_tag == DT_SYMTAB)
            library->symbols = at;
        else if (d->d_tag == DT_STRTAB)
            library->strings = at;
        else if (d->d_tag == DT_GNU_HASH)
            library->gnu_hash = at;
        else if (d->d_tag == DT_HASH)
            library->sysv_hash = at;
        else if (d->d_tag == DT_VERSYM)
            library->versions = at;
        else if (d->d_tag == DT_VERDEF)
            library->definitions = at;
    }
}

/* The name of a symbol's version; NULL when it has none. */
static const char *version_of(const struct library *library, uint32_t index)
{
    const ElfW(Verdef) *at = library->versions ? library->definitions : NULL;

    for (; at; at = at->vd_next ? (const ElfW(Verdef) *)((const char *)at + at->vd_next) : NULL)
        if (at->vd_ndx == (library->versions[index] & 0x7fff) && !(at->vd_flags & VER_FLG_BASE))
            return library->strings + ((const ElfW(Verdaux) *)((const char *)at + at->vd_aux))->vda_name;
    return NULL;
}

/* 0: not this one, 1: an old version, 2: the default one or the one that is asked for. */
static int fits(const struct library *library, uint32_t index, const char *name, const char *version)
{
    const ElfW(Sym) *symbol = &library->symbols[index];

    if (symbol->st_shndx == SHN_UNDEF || strcmp(library->strings + symbol->st_name, name))
        return 0;
    if (version) {
        const char *has = version_of(library, index);

        return !has || !strcmp(has, version) ? 2 : 0; /* as the loader has it: one without any is as good */
    }
    return library->versions && library->versions[index] & 0x8000 ? 1 : 2;
}

static const ElfW(Sym) * find_gnu(const struct library *library, const char *name, const char *version)
{
    const uint32_t *table = library->gnu_hash;
    uint32_t buckets = table[0], first = table[1], bloom_words = table[2], bloom_shift = table[3], hash = 5381;
    const ElfW(Addr) *bloom = (const ElfW(Addr) *)(table + 4);
    const uint32_t *bucket = (const uint32_t *)(bloom + bloom_words), *chain = bucket + buckets;
    const ElfW(Sym) *old = NULL;
    enum { WORD_BITS = 8 * sizeof(ElfW(Addr)) };

    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        hash = hash * 33 + *c;
    if (!buckets || !(bloom[hash / WORD_BITS % bloom_words] >> hash % WORD_BITS &
                      bloom[hash / WORD_BITS % bloom_words] >> (hash >> bloom_shift) % WORD_BITS & 1))
        return NULL;
    for (uint32_t i = bucket[hash % buckets]; i >= first && i; i++) {
        int fit = (chain[i - first] | 1) == (hash | 1) ? fits(library, i, name, version) : 0;

        if (fit == 2)
            return &library->symbols[i];
        if (fit == 1)
            old = &library->symbols[i];
        if (chain[i - first] & 1)
            break;
    }
    return old;
}

static const ElfW(Sym) * find_sysv(const struct library *library, const char *name, const char *version)
{
    const uint32_t *table = library->sysv_hash, *bucket = table + 2, *chain = bucket + table[0];
    const ElfW(Sym) *old = NULL;
    uint32_t hash = 0;

    for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
        hash = (hash << 4) + *c;
        hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
    }
    for (uint32_t i = table[0] ? bucket[hash % table[0]] : 0; i; i = chain[i]) {
        int fit = fits(library, i, name, version);

        if (fit == 2)
            return &library->symbols[i];
        if (fit == 1)
            old = &library->symbols[i];
    }
    return old;
}

static void *find(const struct library *library, const char *name, const char *version)
{
    const ElfW(Sym) *symbol = library->gnu_hash    ? find_gnu(library, name, version)
                              : library->sysv_hash ? find_sysv(library, name, version)
                                                   : NULL;
    ElfW(Addr) address;

    if (!symbol)
        return NULL;
    address = library->base + symbol->st_value;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
        address = ((ElfW(Addr)(*)(void))address)();
    return (void *)address;
}

/* The libraries behind ours; where there is none with symbols (we were linked, not preloaded), all but ours. */
static const struct link_map *libraries_behind_ours(void)
{
    const struct link_map *map = _r_debug.r_map;

    while (map && map->l_ld != _DYNAMIC)
        map = map->l_next;
    return map && map->l_next ? map->l_next : _r_debug.r_map;
}

static long answer_number(void)
{
    errno = ENOSYS;
    return -1;
}

static void *answer_pointer(void)
{
    errno = ENOSYS;
    return NULL;
}

void dft_resolve(void)
{
    void **pointers = (void **)&dft_real;

    for (const struct link_map *map = libraries_behind_ours(); map; map = map->l_next) {
        struct library library;

        if (map->l_ld == _DYNAMIC)
            continue;
        read_library(map, &library);
        if (!library.symbols || !library.strings)
            continue;
        for (size_t i = 0; i < WANTED; i++)
            if (!pointers[i])
                __atomic_store_n(&pointers[i], find(&library, wanted[i].name, wanted[i].version), __ATOMIC_RELEASE);
    }
    for (size_t i = 0; i < WANTED; i++)
        if (!pointers[i] && wanted[i].type)
            pointers[i] = strchr(wanted[i].type, '*') ? (void *)answer_pointer : (void *)answer_number;
}

void *dft_resolve_symbol(const char *name)
{
    for (const struct link_map *map = libraries_behind_ours(); map; map = map->l_next) {
        struct library library;
        void *address;

        if (map->l_ld == _DYNAMIC)
            continue;
        read_library(map, &library);
        if (library.symbols && library.strings && (address = find(&library, name, NULL)))
            return address;
    }
    return NULL;
}

struct dft_own_calls dft_own;

static int is_c_library(const struct link_map *map)
{
    const char *name = map->l_name ? strrchr(map->l_name, '/') : NULL;

    return name && !strncmp(name, "/libc.so.", 9);
}

void dft_resolve_own_calls(void)
{
    const struct link_map *map = _r_debug.r_map;
    struct library library;

    while (map && !is_c_library(map))
        map = map->l_next;
    if (!map)
        return;
    read_library(map, &library);
    if (!library.symbols || !library.strings)
        return;
    dft_own.clock_gettime = (__typeof__(dft_own.clock_gettime))find(&library, "clock_gettime", NULL);
    dft_own.on_exit = (__typeof__(dft_own.on_exit))find(&library, "on_exit", NULL);
    dft_own.__cxa_at_quick_exit = (__typeof__(dft_own.__cxa_at_quick_exit))find(&library, "__cxa_at_quick_exit", NULL);
}

const char *dft_resolve_own_path(void)
{
    const struct link_map *map = _r_debug.r_map;

    while (map && map->l_ld != _DYNAMIC)
        map = map->l_next;
    return map && map->l_name && *map->l_name ? map->l_name : NULL;
}
