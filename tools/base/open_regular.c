/* SPDX-License-Identifier: MIT */
/* Regular files that nobody named. */
#include "base/open_regular.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int regular(const struct stat *st)
{
    return S_ISREG(st->st_mode) ? 0 : S_ISDIR(st->st_mode) ? -EISDIR : S_ISLNK(st->st_mode) ? -ELOOP : -EMEDIUMTYPE;
}

/* The look comes first, because to open a device or a pipe may have effects. Somebody may change the file between
 * the look and the opening: so without O_NONBLOCK, a FIFO without a writer would never open. Regular files do not
 * mind it. */
int dft_open_regular(const char *path, int flags, struct stat *st)
{
    struct stat own;
    int fd, error;

    st = st ? st : &own;
    if (fstatat(AT_FDCWD, path, st, flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0))
        return -errno;
    error = regular(st);
    fd = error ? error : open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return error ? error : -errno;
    error = fstat(fd, st) ? -errno : regular(st);
    if (!error)
        return fd;
    close(fd);
    return error;
}

FILE *dft_fopen_regular(const char *path)
{
    int fd = dft_open_regular(path, O_RDONLY, NULL);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

    if (fd < 0)
        errno = -fd;
    else if (!file)
        close(fd);
    return file;
}

DIR *dft_opendir_itself(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (fd >= 0 && !dir)
        close(fd);
    return dir;
}

const char *dft_open_reason(int error)
{
    return error == EMEDIUMTYPE ? "not a regular file"
           : error == ELOOP     ? "a symbolic link, which is not followed here"
                                : strerror(error);
}

uint64_t dft_data_from(int fd, uint64_t from, uint64_t end)
{
    off_t data = lseek(fd, (off_t)from, SEEK_DATA);

    if (data < 0)
        return errno == ENXIO ? end : from;
    return (uint64_t)data < end ? (uint64_t)data : end;
}

int dft_is_still(const char *path, const struct stat *st)
{
    struct stat now;

    return !lstat(path, &now) && now.st_dev == st->st_dev && now.st_ino == st->st_ino;
}
