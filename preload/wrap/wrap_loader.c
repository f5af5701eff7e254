/* SPDX-License-Identifier: MIT */
/* The wrappers of what loads libraries, looks functions up and takes libraries away. None is traced.
 *
 * A function that the program finds by a handle of the C library would go past our wrappers. So dlsym gives the
 * wrapper, where that calls the found function itself. Otherwise a library behind ours takes the function, too, and may
 * be the one that asks: the wrapper would lead back to it. */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "loader/image.h"
#include "loader/library.h"
#include "loader/loader.h"
#include "loader/own_calls.h"
#include "os/self.h"
#include "os/sys.h"
#include "ring/names.h"
#include "store/notes.h"
#include "unwind/unwind.h"
#include "weave/weave.h"
#include "wrap/wrapper.h"

/* For loader.S. */
struct dft_loader_answer dft_answer_dlopen(const char *path, int flags, const void *unused,
                                           const void *caller) DFT_HIDDEN;
struct dft_loader_answer dft_answer_dlsym(void *handle, const char *name, const void *unused,
                                          const void *caller) DFT_HIDDEN;
struct dft_loader_answer dft_answer_dlvsym(void *handle, const char *name, const char *version,
                                           const void *caller) DFT_HIDDEN;

/* The next function. While weaving is on, the C library's has a stand-in. */
#define NEXT(name) ((__typeof__(dft_real.name))dft_weave_replacement((void *)DFT_REAL(name)))

/* The list may change while it is walked. */
static int is_loaded(const char *path)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    const struct link_map *map = dft_loader_libraries();

    for (; map && dft_sys_can_read(map); map = map->l_next)
        if (dft_loader_is_called(map, "/") && !strcmp(strrchr(map->l_name, '/') + 1, file))
            return 1;
    return 0;
}

struct dft_loader_answer dft_answer_dlopen(const char *path, int flags, const void *unused, const void *caller)
{
    (void)unused;
    (void)caller;
    if (dft_on && flags & RTLD_DEEPBIND && path && *path && !is_loaded(path))
        dft_process_note(DFT_NOTE_DEEPBIND);
    return (struct dft_loader_answer){(void *)NEXT(dlopen), NULL};
}

/* Does the library of this code take the function, too? */
static int takes(const void *code, const char *name)
{
    struct dft_library library;
    struct dft_image image;

    if (dft_image_find(&image, (uint64_t)code) || !image.map)
        return 0;
    dft_library_read(&library, image.map->l_addr, image.map->l_ld);
    return dft_library_defines(&library, name, NULL);
}

static void *find(void *handle, const char *name, const char *version, const void *caller)
{
    void *found = version ? NEXT(dlvsym)(handle, name, version) : NEXT(dlsym)(handle, name), *wrapper, *next;
    int error = errno;

    wrapper = found ? dft_resolve_wrapper(name, version, &next) : NULL;
    if (wrapper && next == found)
        found = wrapper;
    else if (wrapper && found == dft_own_in_c_library(name) && !takes(caller, name))
        dft_process_note(DFT_NOTE_HANDLE);
    errno = error;
    return found;
}

/* --- RTLD_NEXT -------------------------------------------------------------------------------- */

/* A walk along the loader's list, for one name. */
struct walk {
    const char *name;
    const ElfW(Dyn) * last;   /* of those that the program was started with; NULL when the walk is past it */
    const ElfW(Dyn) * caller; /* the library that asks */
    int is_later;             /* it was loaded later */
    int has_other;            /* and so was another one that has the name */
};

static int meet(struct dl_phdr_info *info, size_t size, void *data)
{
    const ElfW(Dyn) *dynamic = dft_library_dynamic(info);
    struct dft_library library;
    struct walk *walk = data;

    (void)size;
    if (!walk->last && dynamic == walk->caller) {
        walk->is_later = 1;
    } else if (!walk->last && dynamic) {
        dft_library_read(&library, info->dlpi_addr, dynamic);
        walk->has_other |= dft_library_defines(&library, walk->name, NULL);
    }
    if (dynamic == walk->last)
        walk->last = NULL;
    return 0;
}

/* The loader looks behind the caller. That leads past us, where the caller was loaded later than we were. NULL: the
 * loader is to answer. */
static void *find_next(const char *name, const char *version, const void *caller)
{
    int error = errno, (*iterate)(int (*meet)(struct dl_phdr_info *, size_t, void *), void *);
    struct walk walk = {.name = name, .last = dft_resolve_last()};
    struct dft_image image;
    void *next, *wrapper = dft_resolve_wrapper(name, version, &next);

    *(void **)&iterate = wrapper && next ? dft_own_in_c_library("dl_iterate_phdr") : NULL;
    if (iterate && !dft_image_find(&image, (uint64_t)caller) && image.map) {
        walk.caller = image.map->l_ld;
        iterate(meet, &walk);
    }
    if (!walk.is_later || walk.has_other || !NEXT(dlsym)(RTLD_DEFAULT, name)) /* leaves no error to tell */
        wrapper = NULL;
    errno = error;
    return wrapper;
}

/* RTLD_DEFAULT finds us where we are to be found. NULL: the loader is to answer. */
static void *look_up(void *handle, const char *name, const char *version, const void *caller)
{
    if (!dft_on || handle == RTLD_DEFAULT)
        return NULL;
    return handle == RTLD_NEXT ? find_next(name, version, caller) : find(handle, name, version, caller);
}

/* The loader has answered, with or without a result. */
static int is_final(const void *handle)
{
    return dft_on && handle != RTLD_DEFAULT && handle != RTLD_NEXT;
}

struct dft_loader_answer dft_answer_dlsym(void *handle, const char *name, const void *unused, const void *caller)
{
    void *found = look_up(handle, name, NULL, caller);

    (void)unused;
    return (struct dft_loader_answer){found || is_final(handle) ? NULL : (void *)NEXT(dlsym), found};
}

struct dft_loader_answer dft_answer_dlvsym(void *handle, const char *name, const char *version, const void *caller)
{
    void *found = version ? look_up(handle, name, version, caller) : NULL;

    return (struct dft_loader_answer){found || (version && is_final(handle)) ? NULL : (void *)NEXT(dlvsym), found};
}

WRAPPER(int, dlclose, (void *handle))
{
    int result = DFT_REAL(dlclose)(handle), error = errno;

    if (!result) {
        dft_weave_unloaded();
        dft_names_forget_code();
        dft_unwind_forget();
    }
    errno = error;
    return result;
}
