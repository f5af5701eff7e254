/* SPDX-License-Identifier: MIT */
/* Says whose code is. */
#include "symbols/own.h"

#include <stddef.h>
#include <string.h>

static int begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* By its name: "libz.so", "libz.so.1.2"; not "my.solver", nor what lies in a folder of such a name. */
int dft_own_is_library(const char *path)
{
    const char *at = basename(path);

    while ((at = strstr(at, ".so")) && at[3] && at[3] != '.')
        at += 3;
    return at != NULL;
}

int dft_own_module(const char *path)
{
    if (strstr(path, "/site-packages/") || strstr(path, "/dist-packages/"))
        return 0;
    return !dft_own_is_library(path) || (!begins(path, "/usr/") && !begins(path, "/lib"));
}

int dft_own_source(const char *file)
{
    static const char *const tops[] = {"/usr/include/", "/usr/local/include/", "/usr/lib/", "/usr/src/"};
    static const char *const parts[] = {"/include/c++/", "/lib/gcc/", "/lib/clang/"};

    for (size_t i = 0; i < sizeof tops / sizeof *tops; i++)
        if (begins(file, tops[i]))
            return 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(file, parts[i]))
            return 0;
    return 1;
}

/* _ZSt is std, _ZNSt in it, and S with another small letter is a class of it; K: a const method. Every program has the
 * compiler's _start. */
int dft_own_function(const char *name)
{
    if (!begins(name, "_Z"))
        return strcmp(name, "_start") != 0;
    name += 2;
    name += *name == 'N';
    name += *name == 'K';
    return !(name[0] == 'S' && name[1] >= 'a' && name[1] <= 'z') && !begins(name, "9__gnu_cxx");
}
