/* SPDX-License-Identifier: MIT */
/* Owns the decision whether a file that programs read when they start is part of a start. A program that greps or
 * copies such files has them for its data. Libraries open what they need, and interpreters their modules. */
#include "probe/startup.h"

#include <fcntl.h>
#include <string.h>

#include "format/calls.h"
#include "format/file_class.h"
#include "loader/image.h"
#include "loader/loader.h"
#include "os/proc.h"
#include "os/self.h"

static int begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* "python", "python3.11", "R", but not "pythonic". */
static int is_interpreter(const char *name)
{
    static const char *const names[] = {"python", "pypy", "perl", "ruby",  "R",     "Rscript", "java", "julia",
                                        "node",   "php",  "lua",  "tclsh", "guile", "octave",  "ghc",  "ocaml"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char after = begins(name, names[i]) ? name[strlen(names[i])] : 'x';

        if (!((after >= 'a' && after <= 'z') || (after >= 'A' && after <= 'Z')))
            return 1;
    }
    return 0;
}

/* Found once: the program of an image stays. */
static __attribute__((noinline)) int program_is_interpreter(void)
{
    enum { UNKNOWN, NO, YES };
    static uint32_t known; /* atomic */
    char exe[512];
    const char *slash;
    long n;

    if (!__atomic_load_n(&known, __ATOMIC_RELAXED)) {
        n = dft_is_sandboxed() ? 0 : dft_proc_link("exe", exe, sizeof exe - 1);
        exe[n > 0 ? n : 0] = 0;
        slash = strrchr(exe, '/');
        __atomic_store_n(&known, slash && is_interpreter(slash + 1) ? YES : NO, __ATOMIC_RELAXED);
    }
    return __atomic_load_n(&known, __ATOMIC_RELAXED) == YES;
}

/* Does a library ask on its own account? Streams of C++ hand on what the program asks for, and so do we. */
static int library_asks(const void *caller)
{
    static const char *const passes_on[] = {"/libdftrace", "/libstdc++", "/libc++"};
    struct dft_image image;

    if (!caller || dft_image_find(&image, (uintptr_t)caller) || image.map == dft_loader_libraries())
        return 0;
    for (size_t i = 0; i < sizeof passes_on / sizeof *passes_on; i++)
        if (dft_loader_is_called(image.map, passes_on[i]))
            return 0;
    return 1;
}

/* What is opened to be written is not read at the start of a program. A look for a library, and a search that
 * finds none, is one for code in any case. */
enum dft_io dft_startup_class(const struct dft_path_call *at, const struct dft_path *path, enum dft_io io)
{
    int writes = at->op == DFT_OP_OPEN    ? (at->flags & O_ACCMODE) != O_RDONLY
                 : at->op == DFT_OP_FOPEN ? at->fopen_mode[0] != 'r' || strchr(at->fopen_mode, '+')
                                          : 0;

    if (at->call == DFT_CALL_shm_open || at->call == DFT_CALL_shm_unlink)
        return DFT_IO_WAIT;
    if (io != DFT_IO_STARTUP)
        return io;
    if (writes)
        return DFT_IO_NONE;
    if ((!at->opens || at->err) && dft_file_is_library(path->text, path->length))
        return io;
    return program_is_interpreter() || library_asks(at->caller) ? io : DFT_IO_NONE;
}

enum dft_io dft_startup_class_found(long flags, enum dft_io io)
{
    return io == DFT_IO_STARTUP && ((flags > 0 && (flags & O_ACCMODE) != O_RDONLY) || !program_is_interpreter())
               ? DFT_IO_NONE
               : io;
}

int dft_startup_is_memory(const struct dft_path *path)
{
    return path->length > 9 && !memcmp(path->text, "/dev/shm/", 9);
}
