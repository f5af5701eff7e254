/* SPDX-License-Identifier: MIT */
/* Owns files and directories of dftrun's own in directories that others may write to. Whatever stands
 * there already may have been put there by somebody else. */
#include "dftrun/dftrun_own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dftrun/dftrun_launch.h"
#include "format/trust.h"

static int is_same(const struct stat *one, const struct stat *other)
{
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

/* A second name would be that of another file of ours, to which somebody has linked. */
int dft_own_open(int directory, const char *name, int flags)
{
    const int fd = openat(directory, name, flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
    struct stat st;

    if (fd < 0)
        return -errno;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_nlink <= 1)
        return fd;
    close(fd);
    return -EPERM;
}

void dft_own_remove(int directory, const char *name, int fd)
{
    struct stat ours, there;

    if (!fstat(fd, &ours) && !fstatat(directory, name, &there, AT_SYMLINK_NOFOLLOW) && is_same(&ours, &there))
        unlinkat(directory, name, 0);
}

int dft_own_directory(const char *path)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;

    if (fd < 0)
        return -errno;
    if (!fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH)))
        return fd;
    close(fd);
    return -EPERM;
}

int dft_own_is_directory(const char *path, int fd)
{
    struct stat ours, there;

    return !fstat(fd, &ours) && !lstat(path, &there) && is_same(&ours, &there);
}

static int look(const char *path, struct stat *st, int link)
{
    return (link ? lstat(path, st) : stat(path, st)) ? -errno : 0;
}

int dft_own_is_trusted(const char *directory)
{
    char path[PATH_MAX + 1], real[PATH_MAX + 1];
    const char *wrong;

    if (snprintf(path, sizeof path, "%s/", directory) >= (int)sizeof path || !realpath(directory, real))
        return 0;
    strcat(real, "/");
    return !dft_trust_walk(path, geteuid(), look, &wrong) && !wrong && !dft_trust_walk(real, geteuid(), look, &wrong) &&
           !wrong;
}

mode_t dft_own_mode(void)
{
    const char *given = dft_run_variable("DFTRACER_MODE");
    char *end = NULL;
    unsigned long mode = given ? strtoul(given, &end, 8) : 0;

    return end && !*end && mode <= 0777 && (mode & 0600) == 0600 && *given != '-' && *given != '+' ? (mode_t)mode : 0;
}
