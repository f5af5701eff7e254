/* SPDX-License-Identifier: MIT */
/* The parts of dftrun: it inspects the program and the folder, runs the program, and has options
 * that connect these. */
#ifndef DFT_DFTRUN_H
#define DFT_DFTRUN_H

#include <stddef.h>

/* What must be known about a program before a library is preloaded into it. */
struct dft_program {
    /* the file that runs: found by PATH, and behind #! the interpreter; empty when not found */
    char path[4096];
    /* sonames of the sanitizer runtimes that the program needs, separated by ':'; they must come
     * first */
    char sanitizers[512];
    /* why the loader would not preload a library into the program; NULL when it would */
    const char *untraceable;
};

/* Inspects COMMAND as execvp would find it. Never fails: what cannot be read stays empty. */
void dft_program_inspect(struct dft_program *program, const char *command);

/* Can files that begin with this absolute prefix be created, and can they hold anything? Leaves
 * nothing behind. Returns 0 or -errno. */
int dft_folder_try(const char *prefix);

/* How a program ended, in the terms of a shell's exit status. */
struct dft_outcome {
    int status; /* exit code; 127: not found, 126: found, but cannot be run */
    int signal; /* the signal that killed it, or 0 */
};

/* Runs argv and waits for its end. The child calls `prepare` with `context` to set its environment
 * (0 or -errno). SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 are passed on when another
 * process sends them to us alone. Signals of the terminal reach the program without us. Returns 0
 * or -errno. */
int dft_child_run(char *const argv[], int (*prepare)(const void *context), const void *context,
                  struct dft_outcome *outcome);

/* Ends this process in the way the program ended. */
void dft_child_follow(const struct dft_outcome *outcome) __attribute__((noreturn));

#endif
