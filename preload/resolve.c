/* Finds the real functions by walking the loader's list of libraries: dlsym takes locks, and a wrapper may run where those are
 * held (a library constructor, before ours, that waits for a thread).
 *
 * The rule is that of RTLD_NEXT: the first library behind ours in load order that defines the symbol, in its default version, as for
 * a program linked today. Only what no library has so is taken in an old version: an old one of another library (libattr has
 * fsetxattr@ATTR_1.0, which comes before the C library's) is not what a call of the C library's function would reach. */
#include "resolve.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#include "library.h"

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

static void *find(const struct dft_library *library, const char *name, const char *version, int old)
{
    return version || old ? dft_library_find(library, name, version) : dft_library_find_default(library, name);
}

static void find_wanted(void **pointers, int old)
{
    for (const struct link_map *map = libraries_behind_ours(); map; map = map->l_next) {
        struct dft_library library;

        if (map->l_ld == _DYNAMIC)
            continue;
        dft_library_read(&library, map->l_addr, map->l_ld);
        for (size_t i = 0; i < WANTED; i++)
            if (!pointers[i])
                __atomic_store_n(&pointers[i], find(&library, wanted[i].name, wanted[i].version, old),
                                 __ATOMIC_RELEASE);
    }
}

void dft_resolve(void)
{
    void **pointers = (void **)&dft_real;

    find_wanted(pointers, 0);
    find_wanted(pointers, 1);
    for (size_t i = 0; i < WANTED; i++)
        if (!pointers[i] && wanted[i].type)
            pointers[i] = strchr(wanted[i].type, '*') ? (void *)answer_pointer : (void *)answer_number;
}

static void *find_symbol(const char *name, int old)
{
    for (const struct link_map *map = libraries_behind_ours(); map; map = map->l_next) {
        struct dft_library library;
        void *address;

        if (map->l_ld == _DYNAMIC)
            continue;
        dft_library_read(&library, map->l_addr, map->l_ld);
        if ((address = find(&library, name, NULL, old)))
            return address;
    }
    return NULL;
}

void *dft_resolve_symbol(const char *name)
{
    void *address = find_symbol(name, 0);

    return address ? address : find_symbol(name, 1);
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
    struct dft_library library;

    *(void **)&dft_own.find_object = dft_resolve_symbol("_dl_find_object");
    while (map && !is_c_library(map))
        map = map->l_next;
    if (!map)
        return;
    dft_library_read(&library, map->l_addr, map->l_ld);
    dft_own.clock_gettime = (__typeof__(dft_own.clock_gettime))dft_library_find(&library, "clock_gettime", NULL);
    dft_own.on_exit = (__typeof__(dft_own.on_exit))dft_library_find(&library, "on_exit", NULL);
    dft_own.__cxa_at_quick_exit =
        (__typeof__(dft_own.__cxa_at_quick_exit))dft_library_find(&library, "__cxa_at_quick_exit", NULL);
}

static const struct link_map *our_library(void)
{
    const struct link_map *map = _r_debug.r_map;

    while (map && map->l_ld != _DYNAMIC)
        map = map->l_next;
    return map;
}

int dft_resolve_is_ours(const void *dynamic)
{
    return dynamic == _DYNAMIC;
}

int dft_resolve_is_wrapped(const char *name)
{
    const struct link_map *map = our_library();
    struct dft_library library;

    if (!map)
        return 0;
    dft_library_read(&library, map->l_addr, map->l_ld);
    return dft_library_find(&library, name, NULL) != NULL;
}

const char *dft_resolve_own_path(void)
{
    const struct link_map *map = our_library();

    return map && map->l_name && *map->l_name ? map->l_name : NULL;
}
