/* SPDX-License-Identifier: MIT */
/* Who calls dlopen or dlsym, and whether the loader's answer depends on that. The loader takes the
 * return address for the caller; where the answer is the same for our library, our library may call
 * in the caller's place. */
#ifndef DFT_WEAVE_CALLER_H
#define DFT_WEAVE_CALLER_H

/* May our library call dlopen(path) in place of the code at `caller`? */
int dft_weave_may_open(const char *path, const void *caller);

/* A name that is looked up without a handle. `version` NULL: the default one. */
struct dft_weave_lookup {
    const char *name, *version;
    const void *caller;
    int may_stand_in; /* RTLD_DEFAULT: where our library finds something, the caller finds the same */
    void *next;       /* RTLD_NEXT: what the caller finds; NULL: not known */
};

/* Fills in the last two members. */
void dft_weave_look_up(struct dft_weave_lookup *lookup);

#endif
