/* SPDX-License-Identifier: MIT */
/* Writes down what told.h says: makes no call that is traced, but one write at the end. */
#include "told.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROOM (1L << 20)

static struct notes {
    _Atomic long used;
    char text[];
} * notes;
static char folder[4096];

void told_begin(const char *root)
{
    snprintf(folder, sizeof folder, "%s", root);
    notes = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (notes == MAP_FAILED)
        abort();
}

static void __attribute__((format(printf, 1, 2))) note(const char *format, ...)
{
    va_list list;
    long room = ROOM - (long)sizeof *notes - notes->used;
    int n;

    va_start(list, format);
    n = vsnprintf(notes->text + notes->used, (size_t)room, format, list);
    va_end(list);
    if (n < 0 || n >= room)
        abort();
    notes->used += n;
}

static void note_file(const char *key, const char *path)
{
    if (path)
        note(", \"%s\": \"%s%s%s\"", key, path[0] == '/' ? "" : folder, path[0] && path[0] != '/' ? "/" : "", path);
}

void told(const char *name, long result, int error, const struct told *what)
{
    int failed = what->returns_error ? result != 0 : result == -1 && !(what->errno_tells && !error);

    note("{\"name\": \"%s\", \"pid\": %d, \"ret\": %ld", name, (int)getpid(), result);
    if (failed)
        note(", \"errno\": %d", what->returns_error ? (int)result : error);
    if (what->outside)
        note(", \"outside\": true");
    else if (!what->opened || !failed)
        note_file("file", what->file);
    note_file("file2", what->file2);
    if (what->fd >= 0)
        note(", \"fd\": %d", what->fd);
    if (what->size)
        note(", \"size\": %ld", what->size);
    if (what->offset >= 0)
        note(", \"offset\": %ld", what->offset);
    if (what->mode)
        note(", \"mode\": %ld", what->mode);
    if (what->flags)
        note(", \"flags\": %ld", what->flags & 0xffffffff);
    note("}\n");
}

void told_print(void)
{
    if (write(1, notes->text, (size_t)notes->used) != notes->used)
        abort();
}
