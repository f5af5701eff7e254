/* SPDX-License-Identifier: MIT */
/* Finds the live file that a running process has mapped, and tells a process by it. */
#include "stacks/ps_stacks_find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/shared_files.h"

static int is_same_file(void *context, uint64_t device, uint64_t inode, const char *path)
{
    const struct stat *st = context;

    (void)path;
    return st->st_dev == device && st->st_ino == inode;
}

static int take_live_path(void *context, uint64_t device, uint64_t inode, const char *path)
{
    static const char end[] = ".dft.live";
    size_t length = strlen(path);
    char **taken = context;

    (void)device;
    (void)inode;
    if (length <= strlen(end) || strcmp(path + length - strlen(end), end) != 0)
        return 0;
    *taken = strdup(path);
    return 1;
}

int dft_ps_stacks_is_of(uint32_t pid, const char *live_path)
{
    struct stat st;

    return stat(live_path, &st) ? 0 : dft_shared_files_visit(pid, is_same_file, &st);
}

/* A number that is no path. */
static int is_pid(const char *argument)
{
    size_t digits = strspn(argument, "0123456789");

    return digits && digits < 10 && !argument[digits] && access(argument, F_OK) != 0;
}

/* The trace where the live file lies beside it, else the live file. NULL: there is none. */
static char *path_of(const char *pid)
{
    char *path = NULL, *end;
    int rc = dft_shared_files_visit((uint32_t)strtoul(pid, NULL, 10), take_live_path, &path);

    if (rc == -ENOENT || rc == -ESRCH)
        fprintf(
            stderr,
            "dftmerge: there is no process %s here. If it runs on another host or in another container, run dftmerge "
            "there\n",
            pid);
    else if (rc < 0)
        fprintf(
            stderr,
            "dftmerge: process %s cannot be looked at: %s. Run dftmerge as the user whose process it is, or as root "
            "(sudo)\n",
            pid, strerror(-rc));
    else if (!path)
        fprintf(stderr,
                "dftmerge: process %s has no live file: it is not traced, or has made no call yet. Was it started with "
                "LD_PRELOAD=libdftrace.so and DFTRACER_ENABLE=1, or by dftrun?\n",
                pid);
    if (!path)
        return NULL;
    end = path + strlen(path) - strlen(".live");
    *end = 0;
    if (access(path, F_OK) != 0)
        *end = '.';
    return path;
}

int dft_ps_stacks_paths(char **paths, int count)
{
    for (int i = 0; i < count; i++) {
        char *path = is_pid(paths[i]) ? path_of(paths[i]) : paths[i];

        if (!path)
            return -1;
        paths[i] = path;
    }
    return 0;
}
