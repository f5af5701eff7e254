/* SPDX-License-Identifier: MIT */
/* Files that are made whole or not at all, plain or gzip. A gzip stream is a stdio cookie, so
 * writers see no difference. */
#include "base/outfile.h"

#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
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

/* The stream takes the descriptor. */
static int open_below(struct dft_outfile *file, const char *path, int is_named)
{
    int error = dft_whole_file_open(&file->whole, path, is_named);

    if (error)
        return error;
    file->below = fdopen(file->whole.fd, "w");
    if (!file->below)
        return -errno;
    file->whole.fd = -1;
    return 0;
}

static int open_file(struct dft_outfile *file, const char *path, int is_named)
{
    static const cookie_io_functions_t functions = {.write = write_stream};
    int error = 0;

    *file = (struct dft_outfile){0};
    file->whole.fd = -1;
    if (is_named && strcmp(path, "-") == 0)
        file->below = stdout;
    else
        error = open_below(file, path, is_named);
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
    if (file->below != stdout)
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

    if (below == stdout)
        return fflush(stdout) < 0 || ferror(stdout) ? -EIO : 0;
    file->below = NULL;
    if (durable && file->whole.temporary && fsync(fileno(below)) < 0 && errno != EINVAL)
        error = -errno;
    if (fclose(below) < 0 && !error)
        error = -errno;
    return dft_whole_file_close(&file->whole, error);
}

int dft_outfile_commit(struct dft_outfile *file, int durable)
{
    int error = close_stream(file);

    if (!error)
        error = close_below(file, durable);
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
    if (file->below && file->below != stdout)
        fclose(file->below);
    if (file->whole.path)
        dft_whole_file_close(&file->whole, -ECANCELED);
    *file = (struct dft_outfile){0};
}
