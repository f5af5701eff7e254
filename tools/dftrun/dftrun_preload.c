/* SPDX-License-Identifier: MIT */
/* Owns LD_PRELOAD: the library of dftrun, and what was there before, but for other copies of the library. */
#include "dftrun/dftrun_preload.h"
#include "dftrun/dftrun_reason.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two copies would count the calls of a program twice, or one of them would step back. */
static int is_copy(const char *entry)
{
    return !strncmp(dft_reason_base(entry), DFTRUN_LIBRARY, strlen(DFTRUN_LIBRARY));
}

int dft_preload_is_other_copy(const struct dft_run *run, const char *entry)
{
    char path[PATH_MAX];

    return is_copy(entry) && !(realpath(entry, path) && !strcmp(path, run->library));
}

/* Calls `put` for each entry that was there before. Returns 0 or -ENOMEM. */
static int each_before(const struct dft_run *run, void *context,
                       void (*put)(const struct dft_run *run, const char *entry, void *context))
{
    const char *before = getenv("LD_PRELOAD");
    char *list = strdup(before ? before : ""), *next = NULL;

    if (!list)
        return -ENOMEM;
    for (char *entry = strtok_r(list, " :", &next); entry; entry = strtok_r(NULL, " :", &next))
        put(run, entry, context);
    free(list);
    return 0;
}

static void say_copy(const struct dft_run *run, const char *entry, void *context)
{
    (void)context;
    if (dft_preload_is_other_copy(run, entry))
        fprintf(stderr, "dftrun: LD_PRELOAD names another copy of the library: %s is left out\n", entry);
}

void dft_preload_say(const struct dft_run *run)
{
    each_before(run, NULL, say_copy);
}

static void put_entry(const struct dft_run *run, const char *entry, void *context)
{
    (void)run;
    if (!is_copy(entry))
        fprintf(context, ":%s", entry);
}

int dft_preload_set(const struct dft_run *run)
{
    const char *first = run->program.sanitizers;
    size_t length = 0;
    char *value = NULL;
    FILE *out = open_memstream(&value, &length);
    int error;

    if (!out)
        return -ENOMEM;
    fprintf(out, "%s%s%s", first, *first ? ":" : "", run->library);
    error = each_before(run, out, put_entry);
    if (fclose(out))
        error = -ENOMEM;
    if (!error && setenv("LD_PRELOAD", value, 1) < 0)
        error = -errno;
    free(value);
    return error;
}
