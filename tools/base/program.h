/* SPDX-License-Identifier: MIT */
/* Programs as files: which file really runs, and whether a preloaded library reaches it. */
#ifndef DFT_PROGRAM_H
#define DFT_PROGRAM_H

#include <stddef.h>

#define DFTRUN_LIBRARY "libdftrace.so"

/* What must be known about a program before a library is preloaded into it. */
struct dft_program {
    /* the file that runs: found by PATH, and behind #! the interpreter; empty when not found */
    char path[4096];
    /* sonames of the sanitizer runtimes that the program needs, separated by ':'; they must come
     * first */
    char sanitizers[512];
    /* why no call of the program would be seen, and what to do; NULL when calls would be */
    const char *untraceable, *remedy;
    char script[4096]; /* the file with the first #!, or empty */
};

/* Inspects COMMAND as execvp would find it. Never fails: what cannot be read stays empty. */
void dft_program_inspect(struct dft_program *program, const char *command);
/* The file that execvp would run for COMMAND, without a look behind #!. Empty: there is none. */
void dft_program_find(char *found, size_t capacity, const char *command);

#endif
