/* SPDX-License-Identifier: MIT */
/* The truth, by raw system calls: where a descriptor or a stream stands, and what a path means. */
#include "fuzz.h"

#include <string.h>

long raw_offset(int fd)
{
    long at = fd < 0 ? -1 : RAW(lseek, fd, 0, SEEK_CUR, 0, 0, 0);

    return at >> 60 ? -1 : at; /* of a directory it is no place */
}

long raw_size(int fd)
{
    struct stat st;

    return fd < 0 || RAW(fstat, fd, &st, 0, 0, 0, 0) < 0 ? -1 : st.st_size;
}

int raw_flags(int fd)
{
    return fd < 0 ? -1 : (int)RAW(fcntl, fd, F_GETFL, 0, 0, 0, 0);
}

int raw_is_open(int fd)
{
    return raw_flags(fd) >= 0;
}

long fd_place(int fd, int writing)
{
    int flags = raw_flags(fd);

    if (flags < 0)
        return -1;
    return writing && flags & O_APPEND ? raw_size(fd) : raw_offset(fd);
}

/* --- streams: the C library's own pointers, looked at without moving anything ----------------- */

int stream_is_pending(const FILE *stream)
{
    return stream->_IO_write_ptr > stream->_IO_write_base;
}

/* In the backup area lie characters that ungetc pushed back; the stream's own buffer waits behind
 * them. */
static long unread(const FILE *stream)
{
    long n = stream->_IO_read_end - stream->_IO_read_ptr;

    return stream->_flags & 0x100 /* _IO_IN_BACKUP */ ? n + (stream->_IO_save_end - stream->_IO_save_base) : n;
}

long stream_place(struct stream_slot *s, int writing)
{
    const FILE *stream = s->stream;
    int fd = stream->_fileno, appending = raw_flags(fd) & O_APPEND;
    long kernel = raw_offset(fd);

    s->before = kernel;
    if (kernel < 0)
        return -1;
    if (stream_is_pending(stream) && appending)
        return raw_size(fd) + (stream->_IO_write_ptr - stream->_IO_write_base);
    if (stream_is_pending(stream))
        return kernel + (stream->_IO_write_ptr - stream->_IO_read_end);
    if (writing)
        return appending ? raw_size(fd) : kernel - unread(stream);
    return unread(stream) ? s->kernel - unread(stream) : kernel;
}

void stream_moved(struct stream_slot *s)
{
    long kernel = raw_offset(s->stream->_fileno);

    if (kernel != s->before)
        s->kernel = kernel;
    s->before = kernel;
}

/* --- names ------------------------------------------------------------------------------------ */

void kernel_name(int fd, char *to)
{
    static const char deleted[] = " (deleted)";
    char link[40];
    long n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = RAW(readlinkat, AT_FDCWD, link, to, NAME_ROOM - 1, 0, 0);
    n = n < 0 ? 0 : n;
    to[n] = 0;
    if (n > 10 && strcmp(to + n - 10, deleted) == 0)
        to[n - 10] = 0;
}

/* base/path without empty, `.` and `..` components. */
static void join(char *to, const char *base, const char *path)
{
    char text[2 * NAME_ROOM], *part, *rest = text;
    size_t n = 0;

    snprintf(text, sizeof text, "%s/%s", path[0] == '/' ? "" : base, path);
    to[0] = 0;
    while ((part = strsep(&rest, "/"))) {
        if (!*part || strcmp(part, ".") == 0)
            continue;
        if (strcmp(part, "..") == 0) {
            while (n && to[--n] != '/')
                ;
            to[n] = 0;
        } else {
            n += (size_t)snprintf(to + n, NAME_ROOM - n, "/%s", part);
        }
    }
    if (!n)
        strcpy(to, "/");
}

static int same_directory(const char *path, int fd)
{
    struct stat a, b;

    return RAW(newfstatat, AT_FDCWD, path, &a, 0, 0, 0) == 0 && RAW(fstat, fd, &b, 0, 0, 0, 0) == 0 &&
           a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

void make_name(struct worker *w, struct name *name, const struct fd_slot *dir, const char *path)
{
    char base[NAME_ROOM] = "";

    (void)w;
    name->file[0] = name->also[0] = 0;
    if (path[0] == '/') {
        join(name->file, "", path);
    } else if (!dir) {
        long n = RAW(getcwd, base, sizeof base, 0, 0, 0, 0);

        if (n > 0 && base[0] == '/')
            join(name->file, base, path);
    } else {
        kernel_name(dir->fd, base);
        if (base[0] == '/')
            join(name->file, base, path);
        /* By the name under which the directory was opened, as long as that is still its name, or
         * only another process has changed it. */
        if (dir->file && (dir->file->shared || same_directory(dir->file->name.file, dir->fd)))
            join(name->also, dir->file->name.file, path);
    }
}
