/* SPDX-License-Identifier: MIT */
/* DFTRACER_FOLLOW_EXEC: programs that run with a cleaned environment are traced, too, and do not
 * see our variables. */
#ifndef DFT_ENV_PROPAGATION_H
#define DFT_ENV_PROPAGATION_H

#include <stddef.h>

/* In the constructor. Keeps the variables that a program needs to be traced. Removes the variables
 * that the exec of another traced program added to the environment. */
void dft_env_propagation_init(char **environment);

/* An environment with the missing variables, for one call of exec or posix_spawn. */
struct dft_env_propagation {
    char *const *envp; /* for the call; the program's own when nothing is missing */
    char *const *own;  /* the program's own */
    void *capacity;    /* our mapping behind `envp`; NULL: `envp` is the program's own */
    size_t bytes;
    int error; /* errno before the call */
};

/* Reads the program's environment. Any thread, vfork children too. The caller calls
 * dft_env_propagation_end when the real call returns. */
void dft_env_propagation_begin(struct dft_env_propagation *follow, char *const *envp);
void dft_env_propagation_end(struct dft_env_propagation *follow);
/* The real call returned this error. Returns 1 when our variables may be the reason: then `envp` is the
 * program's own, and the caller makes the call again, with errno as it was (a vfork child's is its parent's). What it runs is
 * not traced. */
int dft_env_propagation_gives_way(struct dft_env_propagation *follow, int error);
/* Does LD_PRELOAD of this environment not bring the library? As an exec does, before its begin. */
int dft_env_propagation_is_lost(char *const *envp);
/* The C library itself runs a shell: what programs need to be traced alike stands in `environ` between these two. */
struct dft_env_command {
    char **own, **larger; /* environ before, and meanwhile; NULL: nothing is missing */
};
void dft_env_propagation_command(struct dft_env_command *command);
void dft_env_propagation_command_end(const struct dft_env_command *command);
/* In the parent. Frees the mapping that an ended vfork child has left. */
void dft_env_propagation_child_gone(void);

#endif
