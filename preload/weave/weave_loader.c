/* SPDX-License-Identifier: MIT */
/* What stands in for dlopen, dlsym and dlvsym while weaving is on: libraries that are loaded later
 * are woven too, and addresses that are looked up are those of closures.
 *
 * The loader looks at the return address to see which library asks. So we call the real function
 * ourselves where its answer does not depend on that (weave_caller.c), and otherwise pass the call
 * on untouched. A library that came by such a dlopen is woven when a name is first looked up by its
 * handle: only a handle tells that a library is complete. */
#include <dlfcn.h>
#include <errno.h>

#include "loader/loader.h"
#include "weave/weave_caller.h"
#include "weave/weave_target.h"

/* Defined in weave_loader.S. */
void *dft_weave_dlopen(const char *path, int flags);
void *dft_weave_dlsym(void *handle, const char *name);
void *dft_weave_dlvsym(void *handle, const char *name, const char *version);

static void *real_dlopen, *real_dlsym, *real_dlvsym;

/* For weave_loader.S. */
struct dft_loader_answer dft_weave_answer_dlopen(const char *path, int flags, const void *unused,
                                                 const void *caller) DFT_HIDDEN;
struct dft_loader_answer dft_weave_answer_dlsym(void *handle, const char *name, const void *unused,
                                                const void *caller) DFT_HIDDEN;
struct dft_loader_answer dft_weave_answer_dlvsym(void *handle, const char *name, const char *version,
                                                 const void *caller) DFT_HIDDEN;

struct dft_loader_answer dft_weave_answer_dlopen(const char *path, int flags, const void *unused, const void *caller)
{
    int error = errno, may_open = dft_weave_may_open(path, caller);
    void *handle;

    (void)unused;
    errno = error;
    if (!may_open)
        return (struct dft_loader_answer){real_dlopen, NULL};
    handle = ((__typeof__(&dlopen))real_dlopen)(path, flags);
    error = errno;
    if (handle)
        dft_weave_scan(handle);
    errno = error;
    return (struct dft_loader_answer){NULL, handle};
}

/* `version` NULL: that of dlsym. */
static void *look_up(void *handle, const char *name, const char *version)
{
    return version ? ((__typeof__(&dlvsym))real_dlvsym)(handle, name, version)
                   : ((__typeof__(&dlsym))real_dlsym)(handle, name);
}

static void *find_by_handle(void *handle, const char *name, const char *version)
{
    void *address = look_up(handle, name, version);
    int error = errno;

    if (address)
        dft_weave_complete(handle);
    errno = error;
    return dft_weave_replacement(address);
}

/* NULL: only the caller itself can ask. After an answer dlerror has nothing to tell, so the loader is queried in any
 * case. */
static void *find_for_caller(void *handle, struct dft_weave_lookup *lookup)
{
    void *woven = NULL;

    dft_weave_look_up(lookup);
    if (handle == RTLD_NEXT && lookup->next)
        woven = dft_weave_replacement(lookup->next);
    if (handle == RTLD_NEXT)
        return woven != lookup->next && look_up(RTLD_DEFAULT, lookup->name, lookup->version) ? woven : NULL;
    return lookup->may_stand_in ? dft_weave_replacement(look_up(RTLD_DEFAULT, lookup->name, lookup->version)) : NULL;
}

static struct dft_loader_answer find(void *handle, const char *name, const char *version, const void *caller)
{
    struct dft_weave_lookup lookup = {.name = name, .version = version, .caller = caller};
    int error = errno;
    void *address;

    if (handle != RTLD_NEXT && handle != RTLD_DEFAULT)
        return (struct dft_loader_answer){NULL, find_by_handle(handle, name, version)};
    address = find_for_caller(handle, &lookup);
    errno = error;
    return (struct dft_loader_answer){address ? NULL : version ? real_dlvsym : real_dlsym, address};
}

struct dft_loader_answer dft_weave_answer_dlsym(void *handle, const char *name, const void *unused, const void *caller)
{
    (void)unused;
    return find(handle, name, NULL, caller);
}

struct dft_loader_answer dft_weave_answer_dlvsym(void *handle, const char *name, const char *version,
                                                 const void *caller)
{
    return find(handle, name, version, caller);
}

void dft_weave_begin_loader(void)
{
    static const struct dft_weave_loader functions[DFT_WEAVE_LOADER] = {
        {"dlopen", (void *)dft_weave_dlopen, &real_dlopen},
        {"dlsym", (void *)dft_weave_dlsym, &real_dlsym},
        {"dlvsym", (void *)dft_weave_dlvsym, &real_dlvsym}};

    dft_weave_stand_in(functions);
}
