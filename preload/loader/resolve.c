/* SPDX-License-Identifier: MIT */
/* Finds the real functions by a walk of the loader's list of libraries. dlsym takes locks, and a
 * wrapper may run where these are held. For example, a library constructor before ours waits for a
 * thread.
 *
 * The rule is that of RTLD_NEXT: the first library behind ours in load order that defines the
 * symbol. Where our export has a version, the same version counts first. Else the default version
 * counts, as for a program linked today. An old version counts only where no library has a default
 * one. An old version of another library may come first: libattr has fsetxattr@ATTR_1.0, ahead of
 * the C library. A call of the C library's function would not reach that version. */
#include "loader/resolve.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "loader/library.h"
#include "loader/loader.h"
#include "loader/substitute.h"

struct dft_reals dft_real;

extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

/* All texts lie in one object and are found by their offset. Pointers would need a relocation in
 * each process. */
#define NAME(name)                              char name_##name[sizeof #name];
#define TYPE(name, type)                        char type_##name[sizeof type];
#define DFT_CALL(category, op, type, name, ...) NAME(name) TYPE(name, #type)
#define DFT_MODE                                DFT_CALL
#define DFT_CUSTOM                              DFT_CALL
#define DFT_ENTRY                               DFT_CALL
#define DFT_FORMAT(category, op, name, ...)     NAME(name) TYPE(name, "int")
#define DFT_FORMAT_ENTRY                        DFT_FORMAT
#define DFT_ALIAS(...)
#define DFT_CUSTOM_ALIAS(...)
#define DFT_RECLASSIFIED(...)
#define DFT_GATE(type, name, ...)                             NAME(name) TYPE(name, #type)
#define DFT_VERSIONED(category, op, type, name, version, ...) NAME(name) TYPE(name, version)
#define DFT_EVENT(...)
#define DFT_OLDER(event, op, type, name, version, newer, ...) TYPE(name, version) char newer_##name[sizeof newer];
#define DFT_CUSTOM_OLDER                                      DFT_OLDER
struct texts {
    char none[1];
#include <dftrace/calls.def>
};
#undef NAME
#undef TYPE
#define NAME(name)                              #name,
#define TYPE(name, type)                        type,
#define DFT_CALL(category, op, type, name, ...) NAME(name) TYPE(name, #type)
#define DFT_MODE                                DFT_CALL
#define DFT_CUSTOM                              DFT_CALL
#define DFT_ENTRY                               DFT_CALL
#define DFT_FORMAT(category, op, name, ...)     NAME(name) TYPE(name, "int")
#define DFT_FORMAT_ENTRY                        DFT_FORMAT
#define DFT_ALIAS(...)
#define DFT_CUSTOM_ALIAS(...)
#define DFT_RECLASSIFIED(...)
#define DFT_GATE(type, name, ...)                             NAME(name) TYPE(name, #type)
#define DFT_VERSIONED(category, op, type, name, version, ...) NAME(name) TYPE(name, version)
#define DFT_EVENT(...)
#define DFT_OLDER(event, op, type, name, version, newer, ...) version, newer,
#define DFT_CUSTOM_OLDER                                      DFT_OLDER
static const struct texts texts = {
    "",
#include <dftrace/calls.def>
};

struct wanted {
    uint16_t name, version; /* version 0: the default one, or that of newer[] */
    uint16_t type;          /* the type of its result; 0: a missing function gets no substitute */
};
_Static_assert(sizeof texts <= UINT16_MAX, "an offset fits");

#define AT(text)   offsetof(struct texts, text)
#define CALL(name) {AT(name_##name), 0, AT(type_##name)},

/* In the order of struct dft_reals. */
static const struct wanted wanted[] = {
#define DFT_CALL(category, op, type, name, ...)               CALL(name)
#define DFT_MODE                                              DFT_CALL
#define DFT_ENTRY                                             DFT_CALL
#define DFT_CUSTOM                                            DFT_CALL
#define DFT_FORMAT(category, op, name, ...)                   CALL(name)
#define DFT_FORMAT_ENTRY                                      DFT_FORMAT
#define DFT_GATE(type, name, ...)                             CALL(name)
#define DFT_VERSIONED(category, op, type, name, version, ...) {AT(name_##name), AT(type_##name), 0},
#define DFT_ALIAS(...)
#define DFT_CUSTOM_ALIAS(...)
#define DFT_RECLASSIFIED(...)
#define DFT_EVENT(...)
#define DFT_OLDER(event, op, type, name, ...) {AT(name_##event), AT(type_##name), AT(type_##event)},
#define DFT_CUSTOM_OLDER                      DFT_OLDER
#include <dftrace/calls.def>
};
#define WANTED (sizeof wanted / sizeof *wanted)
_Static_assert(sizeof(struct dft_reals) == WANTED * sizeof(void *), "one name a pointer");

/* Functions whose pointers are used without DFT_REAL(). */
#define PLACE(name) (offsetof(struct dft_reals, name) / sizeof(void *))
static const uint16_t at_load[] = {
#define DFT_CALL(...)
#define DFT_MODE(...)
#define DFT_ENTRY(...)
#define DFT_CUSTOM(...)
#define DFT_FORMAT(...)
#define DFT_FORMAT_ENTRY(...)
#define DFT_GATE(...)
#define DFT_VERSIONED(category, op, type, name, ...) PLACE(name),
#define DFT_ALIAS(...)
#define DFT_CUSTOM_ALIAS(...)
#define DFT_RECLASSIFIED(...)
#define DFT_EVENT(...)
#include <dftrace/calls.def>
};

/* What the functions that have an old version are exported as. */
static const struct {
    uint16_t place, version;
} newer[] = {
#define DFT_CALL(...)
#define DFT_MODE(...)
#define DFT_ENTRY(...)
#define DFT_CUSTOM(...)
#define DFT_FORMAT(...)
#define DFT_FORMAT_ENTRY(...)
#define DFT_GATE(...)
#define DFT_VERSIONED(...)
#define DFT_ALIAS(...)
#define DFT_CUSTOM_ALIAS(...)
#define DFT_RECLASSIFIED(...)
#define DFT_EVENT(...)
#define DFT_OLDER(event, op, type, name, ...) {PLACE(event), AT(newer_##name)},
#define DFT_CUSTOM_OLDER                      DFT_OLDER
#include <dftrace/calls.def>
};

static const char *text_at(uint16_t offset)
{
    return offset ? (const char *)&texts + offset : NULL;
}

/* The libraries behind ours. Where none has symbols (we were linked, not preloaded), all libraries
 * but ours. */
static const struct link_map *libraries_behind_ours(void)
{
    const struct link_map *map = dft_loader_libraries();

    while (map && map->l_ld != _DYNAMIC)
        map = map->l_next;
    return map && map->l_next ? map->l_next : dft_loader_libraries();
}

static int is_c_library(const struct link_map *map)
{
    return dft_loader_is_called(map, "/libc.so.");
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

/* A symbol to find. */
struct sought {
    const char *name, *version; /* version NULL: the default one */
    int only;                   /* no other version serves */
};

/* Which symbols serve: a later way is for what no library has by an earlier one. */
enum way { BY_VERSION, BY_DEFAULT, BY_NAME, WAYS };

static struct sought sought_at(size_t i)
{
    struct sought sought = {text_at(wanted[i].name), text_at(wanted[i].version), wanted[i].version && !wanted[i].type};

    for (size_t k = 0; !sought.version && k < sizeof newer / sizeof *newer; k++)
        if (newer[k].place == i)
            sought.version = text_at(newer[k].version);
    return sought;
}

static void *find(const struct dft_library *library, const struct sought *sought, enum way way)
{
    if (way == BY_VERSION)
        return sought->version ? dft_library_find(library, sought->name, sought->version) : NULL;
    if (sought->only)
        return NULL;
    return way == BY_DEFAULT ? dft_library_find_default(library, sought->name)
                             : dft_library_find(library, sought->name, NULL);
}

static void *find_by(enum way way, const struct link_map *end, const struct sought *sought)
{
    for (const struct link_map *map = libraries_behind_ours(); map; map = map == end ? NULL : map->l_next) {
        struct dft_library library;
        void *address;

        if (map->l_ld == _DYNAMIC)
            continue;
        dft_library_read(&library, map->l_addr, map->l_ld);
        if ((address = find(&library, sought, way)))
            return address;
    }
    return NULL;
}

/* Searches the libraries up to `end`. NULL: all libraries. */
static void *find_up_to(const struct link_map *end, const struct sought *sought)
{
    void *address = NULL;

    for (int way = sought->version ? BY_VERSION : BY_DEFAULT; way < WAYS && !address; way++)
        address = find_by(way, end, sought);
    return address;
}

/* The last of the libraries that the program started with. These libraries stay as long as the
 * program runs. NULL: not known. */
static const struct link_map *last;

/* No constructor has run before ours if the C library's has not run, which sets `environ`. So no
 * constructor has loaded a library. The second test excludes a load of ours after the C library, by
 * a program without an environment. */
static void know_the_last(void)
{
    const struct link_map *map = libraries_behind_ours(), *end = NULL;
    int started_with_us = 0;

    for (; map; map = map->l_next) {
        started_with_us |= is_c_library(map);
        end = map;
    }
    __atomic_store_n(&last, started_with_us && !environ ? end : NULL, __ATOMIC_RELEASE);
}

static void set(size_t i, void *function)
{
    __atomic_store_n(&((void **)&dft_real)[i], function, __ATOMIC_RELEASE);
}

/* The functions of C23 do the same as those of C99, but for numbers that begin with 0b. */
static void *find_older(const char *name)
{
    char older[32] = "__isoc99_";
    size_t begins = strlen("__isoc23_");

    if (strncmp(name, "__isoc23_", begins) || strlen(name) >= sizeof older)
        return NULL;
    memcpy(older + begins, name + begins, strlen(name + begins) + 1);
    return find_up_to(last, &(struct sought){.name = older});
}

static void set_missing(size_t i)
{
    const char *type = text_at(wanted[i].type), *name = text_at(wanted[i].name);
    void *substitute = type ? dft_substitute(name) : NULL;

    if (type && !substitute)
        substitute = find_older(name);
    if (substitute)
        set(i, substitute);
    else if (type)
        set(i, strchr(type, '*') ? (void *)answer_pointer : (void *)answer_number);
}

static int is_missing(size_t i)
{
    return !__atomic_load_n(&((void **)&dft_real)[i], __ATOMIC_RELAXED);
}

/* Searches each library for all these functions. `list` NULL: the first ones. */
static void find_each(const uint16_t *list, size_t count, enum way way)
{
    for (const struct link_map *map = libraries_behind_ours(); map; map = map->l_next) {
        struct dft_library library;

        if (map->l_ld == _DYNAMIC)
            continue;
        dft_library_read(&library, map->l_addr, map->l_ld);
        for (size_t k = 0; k < count; k++) {
            size_t i = list ? list[k] : k;

            if (is_missing(i)) {
                const struct sought sought = sought_at(i);

                set(i, find(&library, &sought, way));
            }
        }
    }
}

static void resolve_all(void)
{
    for (int way = 0; way < WAYS; way++)
        find_each(NULL, WANTED, way);
    for (size_t i = 0; i < WANTED; i++)
        if (is_missing(i))
            set_missing(i);
}

void dft_resolve(void)
{
    know_the_last();
    if (!last)
        return resolve_all();
    find_each(at_load, sizeof at_load / sizeof *at_load, BY_VERSION);
    dft_resolve_one(PLACE(syscall));
}

int dft_resolve_is_first(void)
{
    return last != NULL;
}

const ElfW(Dyn) * dft_resolve_last(void)
{
    const struct link_map *map = __atomic_load_n(&last, __ATOMIC_ACQUIRE);

    return map ? map->l_ld : NULL;
}

void dft_resolve_one(size_t i)
{
    const struct link_map *end = __atomic_load_n(&last, __ATOMIC_ACQUIRE);
    const struct sought sought = sought_at(i);
    void *function;

    if (!end)
        return resolve_all();
    function = find_up_to(end, &sought);
    if (function)
        set(i, function);
    else
        set_missing(i);
}

void *dft_resolve_symbol(const char *name)
{
    return find_up_to(NULL, &(struct sought){.name = name});
}

static const struct link_map *our_library(void)
{
    const struct link_map *map = dft_loader_libraries();

    while (map && map->l_ld != _DYNAMIC)
        map = map->l_next;
    return map;
}

int dft_resolve_is_ours(const void *dynamic)
{
    return dynamic == _DYNAMIC;
}

/* The library of the program's start is never unloaded, nor is what stands before it in the list. */
static void *find_own(const char *name, const char *version)
{
    const struct link_map *map = our_library();
    struct dft_library library;

    if (!map)
        return NULL;
    dft_library_read(&library, map->l_addr, map->l_ld);
    return version ? dft_library_find(&library, name, version) : dft_library_find_default(&library, name);
}

int dft_resolve_is_wrapped(const char *name)
{
    return find_own(name, NULL) != NULL;
}

void *dft_resolve_wrapper(const char *name, const char *version, void **next)
{
    const struct link_map *end = __atomic_load_n(&last, __ATOMIC_ACQUIRE);
    void *own = end ? find_own(name, version) : NULL;

    *next = own ? find_up_to(end, &(struct sought){.name = name, .version = version}) : NULL;
    return own;
}

const char *dft_resolve_own_path(void)
{
    const struct link_map *map = our_library();

    return map && map->l_name && *map->l_name ? map->l_name : NULL;
}
