/* SPDX-License-Identifier: MIT */
/* The wrapper of what takes libraries away: not traced, but what is known by addresses in them must
 * be forgotten. */
#include <dlfcn.h>
#include <errno.h>

#include "ring/names.h"
#include "wrap/wrapper.h"
#include "unwind/unwind.h"
#include "weave/weave.h"

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
