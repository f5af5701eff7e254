/* SPDX-License-Identifier: MIT */
/* Owns functions of programs compiled with -finstrument-functions: each call is a region of
 * category FUNC, named by the module, its build id and the function's address in the module;
 * dftmerge finds the name.
 *
 * A program that has these hooks itself keeps its own; a library that has them gets each call from
 * here, too. Functions may be left without their exit hook (longjmp, exceptions in some compilers).
 * So an exit is matched by where frames lie: what lies below the frame of who exits is gone. */
#include "regions/function.h"

#include <string.h>

#include "ring/bursts.h"
#include "ring/names.h"
#include "regions/annotate.h"
#include "os/clock.h"
#include "loader/image.h"
#include "loader/resolve.h"

typedef void hook(void *function, void *call_site);
static hook *next_enter, *next_exit;

/* The same symbol of another library; the C library's do nothing. */
static void *next_hook(const char *name)
{
    void *next = dft_resolve_symbol(name), *libc = dft_resolve_symbol("gnu_get_libc_version");
    struct dft_image of_next, of_libc;

    if (!next || !libc || dft_image_find(&of_next, (uintptr_t)next) || dft_image_find(&of_libc, (uintptr_t)libc) ||
        of_next.map == of_libc.map)
        return NULL;
    return next;
}

void dft_function_init(void)
{
    *(void **)&next_enter = next_hook("__cyg_profile_func_enter");
    *(void **)&next_exit = next_hook("__cyg_profile_func_exit");
}

/* --- hooks ------------------------------------------------------------------------------------ */

#define HOOK __attribute__((visibility("default"), no_instrument_function))

HOOK void __cyg_profile_func_enter(void *function, void *call_site);
HOOK void __cyg_profile_func_exit(void *function, void *call_site);

void __cyg_profile_func_enter(void *function, void *call_site)
{
    struct dft_thread *self = dft_annotate_is_enabled() ? dft_annotate_thread() : NULL;

    if (self) {
        uint64_t id;

        dft_bursts_end(self);
        id = dft_names_of_code(self, (uint64_t)function);
        dft_region_begin(self, id, dft_ticks(), (uint64_t)__builtin_frame_address(0));
    }
    if (__builtin_expect(next_enter != NULL, 0))
        next_enter(function, call_site);
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
    uint64_t end = dft_ticks();
    struct dft_thread *self = dft_annotate_is_enabled() ? dft_annotate_thread() : NULL;

    if (self) {
        dft_bursts_end(self);
        /* Called as the last thing that the function does, it returns for it: then the function's
         * frame is gone already. */
        dft_function_end(self, dft_names_of_code(self, (uint64_t)function), end, (uint64_t)__builtin_frame_address(0),
                         __builtin_return_address(0) == call_site);
    }
    if (__builtin_expect(next_exit != NULL, 0))
        next_exit(function, call_site);
}
