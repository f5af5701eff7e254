/* Files that are made whole or not at all, plain or gzip: then the stream is a stdio cookie, so writers do not know the
 * difference. */
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/gzip_members.h"

static int put_below(void *context, const void *bytes, size_t length)
{
    errno = 0;
    return fwrite(bytes, 1, length, context) == length ? 0 : errno ? -errno : -EIO;
}

static ssize_t gzip_write(void *cookie, const char *bytes, size_t length)
{
    struct dft_outfile *file = cookie;
    int error = dft_gzip_put(file->gzip, bytes, length);

    if (error && !file->error)
        file->error = error;
    return error ? (errno = -error, -1) : (ssize_t)length;
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
    fchmod(fd, 0666 & ~mask); /* what any new file gets; mkostemp's own is private */
    *below = fdopen(fd, "w");
    return *below ? 0 : -errno;
}

/* A device or a pipe is written in place, and a symbolic link stays one: what it leads to is replaced. */
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
    static const cookie_io_functions_t functions = {.write = gzip_write};
    FILE *below = NULL;
    int error;

    *file = (struct dft_outfile){0};
    if (strcmp(path, "-") == 0)
        return file->stream = stdout, 0;
    error = open_below(file, path, &below);
    file->stream = below;
    if (error)
        goto out;
    if (ends_in(path, ".gz")) {
        error = -ENOMEM;
        file->gzip = dft_gzip_create(put_below, below);
        if (!file->gzip)
            goto out;
        file->below = below;
        file->stream = fopencookie(file, "w", functions); /* NULL: abort closes what is below */
        if (!file->stream)
            goto out;
        error = 0;
    }
    setvbuf(file->stream, NULL, _IOFBF, 1 << 16);
    __fsetlocking(file->stream,
                  FSETLOCKING_BYCALLER); /* one thread writes: a lock a character would cost half the time */
out:
    if (error)
        dft_outfile_abort(file);
    return error;
}

int dft_outfile_is_plain(const char *path)
{
    struct stat st;

    return strcmp(path, "-") != 0 && !ends_in(path, ".gz") && (stat(path, &st) < 0 || S_ISREG(st.st_mode));
}

static int close_stream(FILE *stream, int sync)
{
    int error = ferror(stream) ? -EIO : 0;

    if (fflush(stream) < 0 && !error)
        error = -errno;
    if (sync && !error && fsync(fileno(stream)) < 0 && errno != EINVAL)
        error = -errno;
    if (fclose(stream) < 0 && !error)
        error = -errno;
    return error;
}

FILE *dft_outfile_below(const struct dft_outfile *file)
{
    return file->gzip ? file->below : file->stream;
}

/* From here on the stream is what lies below. */
static int end_gzip(struct dft_outfile *file)
{
    int error = close_stream(file->stream, 0);

    if (file->error)
        error = file->error;
    if (!error)
        error = dft_gzip_end(file->gzip);
    dft_gzip_destroy(file->gzip);
    file->gzip = NULL;
    file->stream = file->below;
    return error;
}

int dft_outfile_commit(struct dft_outfile *file, int durable)
{
    int error = 0;

    if (!file->path)
        return fflush(stdout) < 0 || ferror(stdout) ? -EIO : 0;
    if (file->gzip)
        error = end_gzip(file);
    if (!error) {
        error = close_stream(file->stream, durable && file->temporary != NULL);
        file->stream = NULL;
    }
    if (!error && file->temporary && rename(file->temporary, file->path) < 0)
        error = -errno;
    if (error) {
        dft_outfile_abort(file);
        return error;
    }
    free(file->temporary);
    file->temporary = NULL;
    free(file->path);
    file->path = NULL;
    return 0;
}

void dft_outfile_abort(struct dft_outfile *file)
{
    if (file->gzip) {
        if (file->stream)
            fclose(file->stream);
        dft_gzip_destroy(file->gzip);
        file->stream = file->below;
    }
    if (file->path && file->stream)
        fclose(file->stream);
    if (file->temporary)
        unlink(file->temporary);
    free(file->temporary);
    free(file->path);
    *file = (struct dft_outfile){0};
}
