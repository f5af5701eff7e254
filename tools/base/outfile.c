/* SPDX-License-Identifier: MIT */
/* Files that are made whole or not at all, plain or gzip. A gzip stream is a stdio cookie, so
 * writers see no difference. */
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/gzip_members.h"

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

static int open_temporary(struct dft_outfile *file, FILE **below)
{
    mode_t mask;
    int fd;

    if (asprintf(&file->temporary, "%s.XXXXXX", file->path) < 0)
        return file->temporary = NULL, -ENOMEM;
    fd = mkostemp(file->temporary, O_CLOEXEC);
    if (fd < 0) {
        int error = -errno;

        free(file->temporary);
        file->temporary = NULL;
        return error;
    }
    mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask); /* the mode of any new file; mkostemp makes a private file */
    *below = fdopen(fd, "w");
    return *below ? 0 : -errno;
}

/* Writes a device or a pipe in place. A symbolic link stays a link: its target is replaced. */
static int open_below(struct dft_outfile *file, const char *path, FILE **below)
{
    struct stat st;

    if (stat(path, &st) < 0) {
        file->path = strdup(path);
        return file->path ? open_temporary(file, below) : -ENOMEM;
    }
    file->path = realpath(path, NULL);
    if (!file->path)
        return -errno;
    if (S_ISREG(st.st_mode))
        return open_temporary(file, below);
    *below = fopen(file->path, "we");
    return *below ? 0 : -errno;
}

int dft_outfile_open(struct dft_outfile *file, const char *path)
{
    static const cookie_io_functions_t functions = {.write = write_stream};
    int error = 0;

    *file = (struct dft_outfile){0};
    if (strcmp(path, "-") == 0)
        file->below = stdout;
    else
        error = open_below(file, path, &file->below);
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
