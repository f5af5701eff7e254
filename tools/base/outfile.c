/* SPDX-License-Identifier: MIT */
/* Files that are made whole or not at all, plain or gzip. A gzip stream is a stdio cookie, so
 * writers see no difference. */
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/gzip_members.h"

#define TRIES 100

/* Writes bytes in their final form into the file. */
static int put_below(void *context, const void *bytes, size_t length)
{
    struct dft_outfile *file = context;

    errno = 0;
    return fwrite(bytes, 1, length, file->below) == length ? 0 : errno ? -errno : -EIO;
}

/* Keeps the first error, because a stdio stream forgets which error happened. */
static ssize_t write_stream(void *cookie, const char *bytes, size_t length)
{
    struct dft_outfile *file = cookie;

    if (!file->error)
        file->error = file->gzip ? dft_gzip_put(file->gzip, bytes, length) : put_below(file, bytes, length);
    return file->error ? (errno = -file->error, -1) : (ssize_t)length;
}

static int ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);

    return length > tail && strcmp(text + length - tail, end) == 0;
}

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
        fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd >= 0)
            return fd;
        fd = -errno;
        free(*name);
        *name = NULL;
    }
    return fd;
}

/* Gives a file the access list that another one has. Returns whether there is none, or both have it. */
static int copy_access_list(const char *path, int fd)
{
    static const char name[] = "system.posix_acl_access";
    char list[4096];
    ssize_t n = getxattr(path, name, list, sizeof list);

    return n < 0 ? errno != ERANGE : !fsetxattr(fd, name, list, (size_t)n, 0);
}

int dft_outfile_like(int fd, const char *path, const struct stat *st)
{
    mode_t mode = st->st_mode & 0777;
    struct stat own;

    if (fstat(fd, &own))
        return -errno;
    if (own.st_uid != st->st_uid && fchown(fd, st->st_uid, (gid_t)-1))
        errno = 0; /* root alone may do that: the file is ours then */
    if (own.st_gid != st->st_gid && fchown(fd, (uid_t)-1, st->st_gid))
        mode &= (mode & 07) << 3 | ~(mode_t)070; /* another group gets no more than all others */
    if (path && !copy_access_list(path, fd))
        mode &= ~(mode_t)070;
    return fchmod(fd, mode) ? -errno : 0;
}

/* A new file has the mode of any new file, another one's successor the mode of that. */
static int open_temporary(struct dft_outfile *file, FILE **below)
{
    struct stat st;
    int is_new = lstat(file->path, &st) || !S_ISREG(st.st_mode);
    int fd = create_beside(file->path, is_new ? 0666 : 0600, &file->temporary), error;

    if (fd < 0)
        return fd;
    error = is_new ? 0 : dft_outfile_like(fd, file->path, &st);
    *below = error ? NULL : fdopen(fd, "w");
    if (*below)
        return 0;
    error = error ? error : -errno;
    close(fd);
    return error;
}

/* Opens a device or a pipe that the user named. It may have become a file meanwhile, which stays as it is. */
static int open_special(const char *path, FILE **below)
{
    int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC), error;
    struct stat st;

    if (fd < 0)
        return -errno;
    error = fstat(fd, &st) ? -errno : S_ISREG(st.st_mode) ? -ESTALE : 0;
    *below = error ? NULL : fdopen(fd, "w");
    if (*below)
        return 0;
    error = error ? error : -errno;
    close(fd);
    return error;
}

/* Writes a device or a pipe in place. A symbolic link stays a link: its target is replaced. */
static int open_below(struct dft_outfile *file, const char *path, int is_named, FILE **below)
{
    struct stat st;
    int is_there = is_named && !stat(path, &st), is_special = is_there && !S_ISREG(st.st_mode);

    file->path = is_there && !is_special ? realpath(path, NULL) : strdup(path);
    if (!file->path)
        return -errno;
    return is_special ? open_special(path, below) : open_temporary(file, below);
}

static int open_file(struct dft_outfile *file, const char *path, int is_named)
{
    static const cookie_io_functions_t functions = {.write = write_stream};
    int error = 0;

    *file = (struct dft_outfile){0};
    if (is_named && strcmp(path, "-") == 0)
        file->below = stdout;
    else
        error = open_below(file, path, is_named, &file->below);
    if (!error && ends_in(path, ".gz")) {
        file->gzip = dft_gzip_create(put_below, file);
        error = file->gzip ? 0 : -ENOMEM;
    }
    if (!error) {
        file->stream = fopencookie(file, "w", functions);
        error = file->stream ? 0 : -ENOMEM;
    }
    if (error) {
        dft_outfile_abort(file);
        return error;
    }
    if (file->path)
        setvbuf(file->below, NULL, _IONBF, 0);
    setvbuf(file->stream, NULL, _IOFBF, 1 << 16);
    __fsetlocking(file->stream,
                  /* one thread writes, and a lock for each character would cost half the time */
                  FSETLOCKING_BYCALLER);
    return 0;
}

int dft_outfile_open(struct dft_outfile *file, const char *path)
{
    return open_file(file, path, 1);
}

int dft_outfile_open_inside(struct dft_outfile *file, const char *path)
{
    return open_file(file, path, 0);
}

/* file->error is the error of a stream that went wrong. */
static int close_stream(struct dft_outfile *file)
{
    int error = fclose(file->stream) ? -EIO : 0;

    file->stream = NULL;
    if (file->error)
        return file->error;
    return !error && file->gzip ? dft_gzip_end(file->gzip) : error;
}

static int close_below(struct dft_outfile *file, int durable)
{
    FILE *below = file->below;
    int error = 0;

    if (!file->path)
        return fflush(stdout) < 0 || ferror(stdout) ? -EIO : 0;
    file->below = NULL;
    if (durable && file->temporary && fsync(fileno(below)) < 0 && errno != EINVAL)
        error = -errno;
    if (fclose(below) < 0 && !error)
        error = -errno;
    return error;
}

int dft_outfile_commit(struct dft_outfile *file, int durable)
{
    int error = close_stream(file);

    if (!error)
        error = close_below(file, durable);
    if (!error && file->temporary && rename(file->temporary, file->path) < 0)
        error = -errno;
    if (!error) {
        free(file->temporary);
        file->temporary = NULL;
    }
    dft_outfile_abort(file);
    return error;
}

int dft_outfile_close(struct dft_outfile *file, int rc, int durable)
{
    if (!rc)
        return dft_outfile_commit(file, durable);
    rc = rc == -EIO && file->error ? file->error : rc;
    dft_outfile_abort(file);
    return rc;
}

void dft_outfile_abort(struct dft_outfile *file)
{
    if (file->stream)
        fclose(file->stream);
    dft_gzip_destroy(file->gzip);
    if (file->path && file->below)
        fclose(file->below);
    if (file->temporary)
        unlink(file->temporary);
    free(file->temporary);
    free(file->path);
    *file = (struct dft_outfile){0};
}
