/* Files that are made whole or not at all, plain or gzip in independent members.
 *
 * A gzip file is a sequence of members (RFC 1952), and each of ours holds whole lines, about MEMBER_BYTES of them:
 * readers may decompress members in parallel or begin in the middle. The stream is a stdio cookie, so writers do not
 * know the difference. */
#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define MEMBER_BYTES (1u << 20)

struct gzip {
    FILE *below;
    z_stream z;
    unsigned char *text, *packed;
    size_t used, room, packed_room;
};

static void gzip_destroy(struct gzip *gzip)
{
    if (!gzip)
        return;
    deflateEnd(&gzip->z);
    free(gzip->text);
    free(gzip->packed);
    free(gzip);
}

static struct gzip *gzip_create(FILE *below)
{
    struct gzip *gzip = calloc(1, sizeof(*gzip));

    if (!gzip)
        return NULL;
    gzip->below = below;
    gzip->room = 2 * MEMBER_BYTES;
    gzip->text = malloc(gzip->room);
    if (deflateInit2(&gzip->z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK || !gzip->text) {
        gzip_destroy(gzip);
        return NULL;
    }
    return gzip;
}

/* Writes the first `length` bytes of the text as one member. */
static int put_member(struct gzip *gzip, size_t length)
{
    size_t bound = deflateBound(&gzip->z, length);

    if (bound > gzip->packed_room) {
        unsigned char *more = realloc(gzip->packed, bound);

        if (!more)
            return -ENOMEM;
        gzip->packed = more;
        gzip->packed_room = bound;
    }
    deflateReset(&gzip->z);
    gzip->z.next_in = gzip->text;
    gzip->z.avail_in = (uInt)length;
    gzip->z.next_out = gzip->packed;
    gzip->z.avail_out = (uInt)gzip->packed_room;
    if (deflate(&gzip->z, Z_FINISH) != Z_STREAM_END)
        return -EIO;
    if (fwrite(gzip->packed, 1, gzip->z.total_out, gzip->below) != gzip->z.total_out)
        return errno ? -errno : -EIO;
    memmove(gzip->text, gzip->text + length, gzip->used - length);
    gzip->used -= length;
    return 0;
}

static ssize_t gzip_write(void *cookie, const char *bytes, size_t length)
{
    struct gzip *gzip = cookie;
    const unsigned char *line_end;
    int error;

    if (length > (64u << 20))
        length = 64u << 20; /* the caller comes again with the rest */
    if (gzip->used + length > gzip->room) {
        unsigned char *more = realloc(gzip->text, gzip->used + length + MEMBER_BYTES);

        if (!more)
            return errno = ENOMEM, -1;
        gzip->text = more;
        gzip->room = gzip->used + length + MEMBER_BYTES;
    }
    memcpy(gzip->text + gzip->used, bytes, length);
    gzip->used += length;
    if (gzip->used < MEMBER_BYTES)
        return (ssize_t)length;
    line_end = memrchr(gzip->text, '\n', gzip->used);
    if (!line_end)
        return (ssize_t)length;
    error = put_member(gzip, (size_t)(line_end - gzip->text) + 1);
    if (error)
        return errno = -error, -1;
    return (ssize_t)length;
}

static int gzip_close(void *cookie)
{
    struct gzip *gzip = cookie;
    int error = gzip->used ? put_member(gzip, gzip->used) : 0;

    return error ? (errno = -error, -1) : 0;
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
    static const cookie_io_functions_t functions = {.write = gzip_write, .close = gzip_close};
    FILE *below = NULL;
    int error;

    *file = (struct dft_outfile){0};
    if (strcmp(path, "-") == 0)
        return file->stream = stdout, 0;
    error = open_below(file, path, &below);
    if (error)
        goto out;
    file->stream = below;
    if (ends_in(path, ".gz")) {
        struct gzip *gzip = file->gzip = gzip_create(below);

        error = -ENOMEM;
        if (!gzip)
            goto out;
        file->stream = fopencookie(gzip, "w", functions);
        if (!file->stream) {
            file->stream = below;
            gzip_destroy(gzip);
            file->gzip = NULL;
            goto out;
        }
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

int dft_outfile_commit(struct dft_outfile *file, int durable)
{
    struct gzip *gzip = file->gzip;
    int error = 0;

    if (!file->path)
        return fflush(stdout) < 0 || ferror(stdout) ? -EIO : 0;
    if (gzip) {
        FILE *below = gzip->below;

        error = close_stream(file->stream, 0);
        file->stream = below;
        gzip_destroy(gzip);
        file->gzip = NULL;
    }
    if (error) {
        dft_outfile_abort(file);
        return error;
    }
    error = close_stream(file->stream, durable && file->temporary != NULL);
    file->stream = NULL;
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
    struct gzip *gzip = file->gzip;

    if (gzip) {
        FILE *below = gzip->below;

        gzip->used = 0;
        fclose(file->stream);
        file->stream = below;
        gzip_destroy(gzip);
    }
    if (file->path && file->stream)
        fclose(file->stream);
    if (file->temporary)
        unlink(file->temporary);
    free(file->temporary);
    free(file->path);
    *file = (struct dft_outfile){0};
}
