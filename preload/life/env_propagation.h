/* SPDX-License-Identifier: MIT */
/* DFTRACER_FOLLOW_EXEC: programs that are run with a cleaned environment are traced too, and do not see how. */
#ifndef DFT_ENV_PROPAGATION_H
#define DFT_ENV_PROPAGATION_H

#include <stddef.h>

/* In the constructor: keeps the variables that a program needs to be traced, and takes those out of the environment that an exec of
 * another program of ours put in. */
void dft_env_propagation_init(char **environment);

/* An environment with what is missing, for one call of exec or posix_spawn. */
struct dft_env_propagation {
    char *const *envp; /* for the call: the program's own when nothing is missing */
    void *room;        /* ours, behind it; NULL: it is the program's own */
    size_t bytes;
};

/* Reads the program's environment. Any thread, vfork children too. Give back with dft_env_propagation_end when the call returns. */
void dft_env_propagation_begin(struct dft_env_propagation *follow, char *const *envp);
void dft_env_propagation_end(struct dft_env_propagation *follow);
/* In the parent: what a vfork child that is gone has left. */
void dft_env_propagation_child_gone(void);

#endif
