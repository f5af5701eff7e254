/* SPDX-License-Identifier: MIT */
/* The parts of dftrun: looking at the program to be run and at the folder, running it, and the options that connect
 * them. */
#ifndef DFT_DFTRUN_H
#define DFT_DFTRUN_H

#include <stddef.h>

/* What must be known about a program before a library is put in front of it. */
struct dft_program {
    char path[4096];      /* the file that runs: found by PATH, and behind #! the interpreter; empty when not found */
    char sanitizers[512]; /* sonames of sanitizer runtimes that it needs, separated by ':'; these must come first */
    const char *untraceable; /* why a preloaded library would not be loaded into it; NULL when it would */
};

/* Looks at COMMAND as execvp would find it. Never fails: what cannot be read stays empty. */
void dft_program_inspect(struct dft_program *program, const char *command);

/* Can files that begin with this absolute prefix be created, and hold something? Leaves nothing behind. Returns 0 or
 * -errno. */
int dft_folder_try(const char *prefix);

/* How a program ended, as the exit status of a shell would have it. */
struct dft_outcome {
    int status; /* exit code; 127: not found, 126: found, but cannot be run */
    int signal; /* the signal that killed it, or 0 */
};

/* Runs argv and waits for it; `prepare`, called with `context` in the child, sets its environment (0 or -errno).
 * SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 that someone sends to us alone are passed on; those of the
 * terminal reach the program without us. Returns 0 or -errno. */
int dft_child_run(char *const argv[], int (*prepare)(const void *context), const void *context,
                  struct dft_outcome *outcome);

/* Ends this process as the program ended. */
void dft_child_follow(const struct dft_outcome *outcome) __attribute__((noreturn));

#endif
