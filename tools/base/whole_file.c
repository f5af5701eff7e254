/* SPDX-License-Identifier: MIT */
/* Files under a temporary name, which get their own when they are whole. */
#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/temporaries.h"

#define TRIES 100

/* Makes a file of a new name beside the path. *name is that name, from malloc. */
static int create_beside(const char *path, mode_t mode, char **name)
{
    int fd = -EEXIST;

    for (int i = 0; i < TRIES && fd == -EEXIST; i++) {
        uint32_t bits;

        if (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits)
            return -EIO;
        if (asprintf(name, "%s.%08x", path, bits) < 0)
            return *name = NULL, -ENOMEM;
        fd = dft_temporary_create(*name, mode);
        if (fd >= 0)
            return fd;
        free(*name);
        *name = NULL;
    }
    return fd;
}

/* Gives a file the access list that another one has, in place of what its directory gave it. Where that has none, the
 * file has none either. Returns whether that was done. */
static int copy_access_list(const char *path, int fd)
{
    static const char name[] = "system.posix_acl_access";
    char list[4096];
    ssize_t n = getxattr(path, name, list, sizeof list);

    if (n >= 0)
        return !fsetxattr(fd, name, list, (size_t)n, 0);
    if (errno != ENODATA && errno != ENOTSUP)
        return 0;
    return !fremovexattr(fd, name) || errno == ENODATA || errno == ENOTSUP;
}

int dft_whole_file_like(int fd, const char *path, const struct stat *st)
{
    mode_t mode = st->st_mode & 0777;
    struct stat own;

    if (fstat(fd, &own))
        return -errno;
    if (own.st_uid != st->st_uid && fchown(fd, st->st_uid, (gid_t)-1))
        errno = 0; /* root alone may do that: the file is ours then */
    if (own.st_gid != st->st_gid && fchown(fd, (uid_t)-1, st->st_gid))
        mode &= (mode & 07) << 3 | ~(mode_t)070; /* another group gets no more than all others */
    if (!copy_access_list(path, fd))
        mode &= ~(mode_t)070;
    return fchmod(fd, mode) ? -errno : 0;
}

int dft_whole_file_like_open(int fd, int other, const struct stat *st)
{
    char path[32];

    snprintf(path, sizeof path, "/proc/self/fd/%d", other);
    return dft_whole_file_like(fd, path, st);
}

/* A new file has the mode of any new file, another one's successor the mode of that. */
static int open_temporary(struct dft_whole_file *file)
{
    struct stat st;
    int is_new = lstat(file->path, &st) || !S_ISREG(st.st_mode);

    file->fd = create_beside(file->path, is_new ? 0666 : 0600, &file->temporary);
    if (file->fd < 0)
        return file->fd;
    return is_new ? 0 : dft_whole_file_like(file->fd, file->path, &st);
}

/* Opens a device or a pipe that the user named. It may have become a file meanwhile, which stays as it is. */
static int open_special(struct dft_whole_file *file)
{
    struct stat st;

    file->fd = open(file->path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (file->fd < 0 || fstat(file->fd, &st))
        return -errno;
    return S_ISREG(st.st_mode) ? -ESTALE : 0;
}

/* The number of an open descriptor that the path names, or -1. */
static int descriptor_of(const char *path)
{
    static const char *const heads[] = {"/dev/fd/", "/proc/self/fd/"};

    if (!strcmp(path, "/dev/stdout") || !strcmp(path, "/dev/stderr"))
        return path[sizeof "/dev/std" - 1] == 'o' ? STDOUT_FILENO : STDERR_FILENO;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        const char *digits = path + strlen(heads[i]);

        if (!strncmp(path, heads[i], strlen(heads[i])) && *digits && strlen(digits) < 10 &&
            !digits[strspn(digits, "0123456789")])
            return atoi(digits);
    }
    return -1;
}

/* Writes on where the descriptor stands. What it leads to may be a file that others write to as well, or that has more
 * in it already: nobody meant to replace that. */
static int open_descriptor(struct dft_whole_file *file, int descriptor)
{
    file->fd = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    return file->fd < 0 ? -errno : 0;
}

/* A symbolic link that the user named stays a link: its target is replaced. */
int dft_whole_file_open(struct dft_whole_file *file, const char *path, int is_named)
{
    struct stat st;
    int descriptor = is_named ? descriptor_of(path) : -1;
    int is_there = descriptor < 0 && is_named && !stat(path, &st), is_special = is_there && !S_ISREG(st.st_mode), error;

    *file = (struct dft_whole_file){.fd = -1, .path = is_there && !is_special ? realpath(path, NULL) : strdup(path)};
    if (!file->path)
        return -errno;
    error = descriptor >= 0 ? open_descriptor(file, descriptor)
            : is_special    ? open_special(file)
                            : open_temporary(file);
    return error ? dft_whole_file_close(file, error) : 0;
}

int dft_whole_file_close(struct dft_whole_file *file, int error)
{
    if (file->fd >= 0 && close(file->fd) < 0 && !error)
        error = -errno;
    if (!error && file->temporary && rename(file->temporary, file->path) < 0)
        error = -errno;
    if (error && file->temporary)
        unlink(file->temporary);
    if (file->temporary)
        dft_temporary_forget(file->temporary);
    free(file->temporary);
    free(file->path);
    *file = (struct dft_whole_file){.fd = -1};
    return error;
}
