/* SPDX-License-Identifier: MIT */
/* Owns what programs with a cleaned environment are given to be traced, and how it is taken away again.
 *
 * What is missing stands at the end, behind a marker variable, so the new image takes out what is ours from there on. Only a LD_PRELOAD of the
 * program's own is changed in its place: our library comes before its value, and is cut off again; the marker says so. All lies in a
 * mapping for the one call: the program's arrays are never written to. A vfork child's mapping is in its parent's memory, which
 * gives it back when the child is gone. */
#include "life/env_propagation.h"

#include <string.h>

#include "os/config.h"
#include "os/reading.h"
#include "os/resolve.h"
#include "os/sys.h"
#include "ring/thread.h"

#define KEPT_MOST 48u
#define MARKER    "DFTRACER_FOLLOWED="
#define PRELOAD   "LD_PRELOAD="
#define OURS      "DFTRACER_"

#define VARIABLE_MOST (128u << 10) /* the kernel takes none that is longer */

static const char *kept[KEPT_MOST]; /* NAME=value, of DFTRACER_ variables */
static uint32_t nkept;
static char preload[4352]; /* LD_PRELOAD= and our library */

/* Left by a vfork child. */
static __thread struct {
    void *room;
    size_t bytes;
} left __attribute__((tls_model("initial-exec")));

static int begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* --- load --------------------------------------------------------------------------------------------------------- */

static void keep(char *const *environment)
{
    const char *own = dft_resolve_own_path();
    size_t used = strlen(PRELOAD);
    long n;

    if (!own || !strchr(own, '/'))
        return;
    memcpy(preload, PRELOAD, used);
    if (*own != '/') {
        n = DFT_SYS(getcwd, preload + used, sizeof preload - used - 1, 0, 0, 0, 0);
        if (n <= 0)
            return;
        used += (size_t)n;
        preload[used - 1] = '/';
    }
    if (used + strlen(own) >= sizeof preload)
        return;
    memcpy(preload + used, own, strlen(own) + 1);
    for (char *const *e = environment; *e && nkept < KEPT_MOST; e++)
        if (begins(*e, OURS) && !begins(*e, MARKER))
            kept[nkept++] = dft_config_keep(*e);
}

/* The marker's value is 1 when LD_PRELOAD was there before. */
static void take_out(char **environment)
{
    char **marker = environment, **from, **to;

    while (*marker && !begins(*marker, MARKER))
        marker++;
    if (!*marker)
        return;
    for (char **e = environment; e < marker && (*marker)[strlen(MARKER)] == '1'; e++) {
        char *value = *e + strlen(PRELOAD), *theirs = begins(*e, PRELOAD) ? strchr(value, ':') : NULL;

        if (theirs)
            memmove(value, theirs + 1, strlen(theirs));
    }
    for (to = from = marker; *from; from++) /* a program that we were not in may have added its own behind */
        if (!begins(*from, OURS) && !begins(*from, PRELOAD))
            *to++ = *from;
    *to = NULL;
}

void dft_env_propagation_init(char **environment)
{
    if (!environment)
        return;
    if (dft_config.follow_exec)
        keep(environment);
    take_out(environment);
}

/* --- exec --------------------------------------------------------------------------------------------------------- */

/* What an environment holds. */
struct contents {
    uint32_t count;
    uint64_t has; /* bit i: kept[i] */
    int preload;  /* position of LD_PRELOAD; -1: not there */
    int complete; /* that has our library */
};

static void look_at(struct contents *found, const char *variable, uint32_t i)
{
    if (begins(variable, PRELOAD)) {
        found->preload = (int)i;
        found->complete = strstr(variable, preload + strlen(PRELOAD)) != NULL;
    }
    for (uint32_t k = 0; k < nkept; k++)
        if (begins(variable, OURS) && !strncmp(variable, kept[k], strcspn(kept[k], "=") + 1))
            found->has |= UINT64_C(1) << k;
}

/* Returns -1 when it cannot be read, or not be taken by the kernel: the call will say so. */
static int look(struct contents *found, char *const *envp)
{
    struct dft_text variable;

    *found = (struct contents){.preload = -1};
    if (!envp)
        return 0;
    for (;; found->count++) {
        if (!dft_sys_can_read(&envp[found->count]))
            return -1;
        if (!envp[found->count])
            return 0;
        if (dft_reading_find(&variable, envp[found->count], VARIABLE_MOST) || variable.length == VARIABLE_MOST)
            return -1;
        look_at(found, envp[found->count], found->count);
    }
}

/* The program's variables, then ours. `text` has room for a LD_PRELOAD of both. */
static void fill(char **to, char *text, const struct contents *found, char *const *envp)
{
    uint32_t n = found->count;

    for (uint32_t i = 0; i < n; i++)
        to[i] = envp[i];
    to[n++] = (char *)(uintptr_t)(found->preload >= 0 && !found->complete ? MARKER "1" : MARKER "0");
    if (found->preload < 0) {
        to[n++] = preload;
    } else if (!found->complete) {
        to[found->preload] = text;
        text = (char *)memcpy(text, preload, strlen(preload)) + strlen(preload);
        *text++ = ':';
        memcpy(text, envp[found->preload] + strlen(PRELOAD), strlen(envp[found->preload] + strlen(PRELOAD)) + 1);
    }
    for (uint32_t k = 0; k < nkept; k++)
        if (!(found->has >> k & 1))
            to[n++] = (char *)(uintptr_t)kept[k];
    to[n] = NULL;
}

void dft_env_propagation_begin(struct dft_env_propagation *follow, char *const *envp)
{
    struct contents found;
    size_t pointers, text;

    *follow = (struct dft_env_propagation){.envp = envp};
    if (!nkept || !dft_on || dft_is_sandboxed() || look(&found, envp) ||
        (found.complete && found.has == (UINT64_C(1) << nkept) - 1))
        return;
    pointers = (found.count + nkept + 3) * sizeof(char *);
    text = sizeof preload + (found.preload < 0 ? 0 : strlen(envp[found.preload]));
    follow->room = dft_sys_map(pointers + text);
    if (!follow->room)
        return;
    follow->bytes = pointers + text;
    fill(follow->room, (char *)follow->room + pointers, &found, envp);
    follow->envp = follow->room;
    if (dft_in_vfork_child()) {
        left.room = follow->room;
        left.bytes = follow->bytes;
    }
}

void dft_env_propagation_end(struct dft_env_propagation *follow)
{
    if (follow->room)
        DFT_SYS(munmap, follow->room, follow->bytes, 0, 0, 0, 0);
    left.room = NULL;
}

void dft_env_propagation_child_gone(void)
{
    if (left.room)
        DFT_SYS(munmap, left.room, left.bytes, 0, 0, 0, 0);
    left.room = NULL;
}
