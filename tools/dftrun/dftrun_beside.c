/* SPDX-License-Identifier: MIT */
/* Owns files that are replaced when they are complete, so that a reader never sees half of one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dftrun/dftrun.h"

int dft_beside_open(const char *path, char *temporary, size_t capacity)
{
    struct stat st;
    int fd, special = !stat(path, &st) && !S_ISREG(st.st_mode);
    int n = snprintf(temporary, capacity, special ? "%s" : "%s.%d.tmp", path, (int)getpid());

    if (n >= (int)capacity)
        return -ENAMETOOLONG;
    fd = open(temporary, special ? O_WRONLY | O_CLOEXEC : O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return fd < 0 ? -errno : fd;
}

int dft_beside_close(const char *path, const char *temporary, int fd, int error)
{
    const int own = strcmp(temporary, path) != 0;

    if (close(fd) < 0 && !error)
        error = -errno;
    if (!error && own && rename(temporary, path) < 0)
        error = -errno;
    if (error && own)
        unlink(temporary);
    return error;
}
