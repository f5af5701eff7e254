/* SPDX-License-Identifier: MIT */
/* Owns what the loader makes of the caller of dlopen and dlsym, by the rules of glibc.
 *
 * dlopen: what is loaded goes into the namespace of the caller. A name with '/' is taken as it is,
 * $ORIGIN and its like in it are the caller's. Other names are searched in the RPATH of the caller,
 * of the library that needed the caller, and so on up to the program, unless the caller has a
 * RUNPATH; then in LD_LIBRARY_PATH, in the caller's RUNPATH, and in the places of the system unless
 * the caller is marked "no default libraries". A library comes behind those that needed it in the
 * loader's list. The library that is loaded inherits nothing from the caller.
 *
 * dlsym: RTLD_DEFAULT looks in the global scope first, and behind it where the caller's own symbols
 * come from; a library that came with RTLD_DEEPBIND or is linked with -Bsymbolic has it the other
 * way round. RTLD_NEXT looks in the global scope behind the caller. The global scope begins with
 * the libraries that the program was started with, in the order of the loader's list. */
#include "weave/weave_caller.h"

#include <string.h>

#include "loader/library.h"
#include "loader/resolve.h"
#include "weave/weave_inside.h"
#include "weave/weave_loaded.h"

/* What a library's dynamic section says of searches. */
struct search {
    int has_rpath;        /* and no RUNPATH, beside which it does not count */
    int has_other_places; /* a RUNPATH, or "no default libraries" */
    int is_symbolic;
};

static struct search search_of(const ElfW(Dyn) * dynamic)
{
    int rpath = 0, runpath = 0, no_default = 0, symbolic = 0;

    for (const ElfW(Dyn) *d = dynamic; d && d->d_tag != DT_NULL; d++) {
        rpath |= d->d_tag == DT_RPATH;
        runpath |= d->d_tag == DT_RUNPATH;
        no_default |= d->d_tag == DT_FLAGS_1 && d->d_un.d_val & DF_1_NODEFLIB;
        symbolic |= d->d_tag == DT_SYMBOLIC || (d->d_tag == DT_FLAGS && d->d_un.d_val & DF_SYMBOLIC);
    }
    return (struct search){rpath && !runpath, runpath || no_default, symbolic};
}

static int is_in(const struct dl_phdr_info *info, const void *address)
{
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD &&
            (uintptr_t)address - info->dlpi_addr - info->dlpi_phdr[i].p_vaddr < info->dlpi_phdr[i].p_memsz)
            return 1;
    return 0;
}

/* The walk along the loader's list: what is known when it is over. */
struct walk {
    struct dft_weave_lookup *lookup; /* NULL: dlopen */
    const void *caller;
    const ElfW(Dyn) * last; /* of those that the program was started with; NULL when the walk is past it */
    int is_behind_program;  /* not the first any more */
    int is_found;           /* the caller, in this namespace */
    int is_of_start;        /* the caller: part of the program as it was started */
    struct search of;       /* the caller */
    int is_rpath_inherited; /* by the caller, perhaps; not from the program */
    int is_ours_searched;   /* our own library has a search path */
    int is_later;           /* a library that was loaded later has the name, too */
};

static void look_in(struct walk *walk, const struct dl_phdr_info *info, const ElfW(Dyn) * dynamic)
{
    struct dft_weave_lookup *lookup = walk->lookup;
    struct dft_library library;

    dft_library_read(&library, info->dlpi_addr, dynamic);
    if (!dft_library_defines(&library, lookup->name, lookup->version))
        return;
    if (!walk->last)
        walk->is_later = 1;
    else if (walk->is_found && !lookup->next)
        lookup->next = lookup->version ? dft_library_find(&library, lookup->name, lookup->version)
                                       : dft_library_find_default(&library, lookup->name);
}

static int meet(struct dl_phdr_info *info, size_t size, void *data)
{
    struct walk *walk = data;
    const ElfW(Dyn) *dynamic = dft_library_dynamic(info);
    struct search search = search_of(dynamic);

    (void)size;
    if (dft_resolve_is_ours(dynamic))
        walk->is_ours_searched = search.has_rpath || search.has_other_places;
    if (walk->is_behind_program && !walk->is_found)
        walk->is_rpath_inherited |= search.has_rpath;
    walk->is_behind_program = 1;
    if (walk->lookup && dynamic)
        look_in(walk, info, dynamic);
    if (!walk->is_found && is_in(info, walk->caller)) {
        walk->is_found = 1;
        walk->is_of_start = walk->last != NULL;
        walk->of = search;
    }
    if (dynamic == walk->last)
        walk->last = NULL;
    return 0;
}

static struct walk walk_to(const void *caller, struct dft_weave_lookup *lookup)
{
    struct walk walk = {.lookup = lookup, .caller = caller, .last = dft_resolve_last()};

    dft_weave_iterate(meet, &walk);
    return walk;
}

int dft_weave_may_open(const char *path, const void *caller)
{
    struct walk walk;

    if (!path)
        return 1;
    if (strchr(path, '$'))
        return 0;
    walk = walk_to(caller, NULL);
    if (strchr(path, '/'))
        return walk.is_found;
    return walk.is_found && !walk.of.has_other_places && !walk.is_rpath_inherited && !walk.is_ours_searched;
}

void dft_weave_look_up(struct dft_weave_lookup *lookup)
{
    struct walk walk;

    lookup->next = NULL;
    walk = walk_to(lookup->caller, lookup);
    if (!walk.is_of_start)
        lookup->next = NULL;
    lookup->may_stand_in = walk.is_found && !(walk.is_of_start ? walk.of.is_symbolic : walk.is_later);
}
