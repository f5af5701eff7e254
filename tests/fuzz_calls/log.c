/* SPDX-License-Identifier: MIT */
/* The log: text in a mapped file, written by nothing that a tracer of the C library sees, without a
 * descriptor that the program could close. One line a call. */
#include "fuzz.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LOG_ROOM (64u << 20)

void log_open(struct worker *w)
{
    char path[NAME_ROOM * 2];
    int fd;
    long at;

    snprintf(path, sizeof path, "%s/%s", options.logs, w->lineage);
    fd = (int)RAW(openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, 0, 0);
    at = fd < 0 ? -1 : RAW(ftruncate, fd, LOG_ROOM, 0, 0, 0, 0);
    at = at < 0 ? at : RAW(mmap, 0, LOG_ROOM, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at < 0 && at > -4096)
        abort();
    RAW(close, fd, 0, 0, 0, 0, 0);
    w->log = (char *)at;
    w->log_used = (size_t)snprintf(w->log, LOG_ROOM, "#\t%ld\t%ld\n", RAW(getpid, 0, 0, 0, 0, 0, 0),
                                   RAW(gettid, 0, 0, 0, 0, 0, 0));
}

void log_close(struct worker *w)
{
    char path[NAME_ROOM * 2];

    snprintf(path, sizeof path, "%s/%s", options.logs, w->lineage);
    RAW(munmap, w->log, LOG_ROOM, 0, 0, 0, 0);
    RAW(truncate, path, w->log_used, 0, 0, 0, 0);
    w->log = NULL;
}

static void append(struct worker *w, const char *format, va_list list)
{
    size_t room = LOG_ROOM - w->log_used;
    int n = vsnprintf(w->log + w->log_used, room, format, list);

    if (n < 0 || (size_t)n >= room)
        abort();
    w->log_used += (size_t)n;
}

static void append_text(struct worker *w, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    append(w, format, list);
    va_end(list);
}

void say(struct worker *w, const char *name, long result, int failed, const char *format, ...)
{
    va_list list;

    append_text(w, "%d\t%s\tret=%ld\terr=%d\te=%d\t", w->op, name, result, failed ? w->error : 0, w->error);
    va_start(list, format);
    append(w, format, list);
    va_end(list);
    append_text(w, "\n");
    seen_by(w, name);
}

void say_fd(struct worker *w, const char *name, long result, const char *format, ...)
{
    va_list list;

    append_text(w, "%d\t%s\t%sret=%ld\topened=%d\terr=%d\te=%d\t", w->op, name, w->threaded ? "~" : "", result,
                result >= 0, result < 0 ? w->error : 0, w->error);
    va_start(list, format);
    append(w, format, list);
    va_end(list);
    append_text(w, "\n");
    seen_by(w, name);
}

const char *fd_text(const struct worker *w, int fd)
{
    static _Thread_local char text[4][24];
    static _Thread_local unsigned turn;
    char *to = text[turn++ % 4];

    snprintf(to, sizeof text[0], "%sfd=%d", w->threaded ? "~" : "", fd);
    return to;
}

/* Names of temporary files differ between two runs: those of mkstemp, and the kernel's own for
 * files without a name. */
int is_random(const char *path)
{
    const char *last = strrchr(path, '/');

    return last && (last[1] == '#' || (strncmp(last, "/tmp", 4) == 0 && strlen(last) > 5));
}

const char *file_text(const struct name *name)
{
    static _Thread_local char text[4][2 * NAME_ROOM + 32];
    static _Thread_local unsigned turn;
    char *to = text[turn++ % 4];

    snprintf(to, sizeof text[0], "%sfile=%s", is_random(name->file) ? "~" : "", name->file);
    if (name->also[0] && strcmp(name->also, name->file) != 0)
        snprintf(to + strlen(to), sizeof text[0] - strlen(to), "\t%salso=%s", is_random(name->also) ? "~" : "",
                 name->also);
    return to;
}

unsigned long sum_of(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    unsigned long sum = 14695981039346656037ul;

    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * 1099511628211ul;
    return sum;
}
