/* SPDX-License-Identifier: MIT */
/* Operations that open, copy and close descriptors. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>

static int some_flags(struct worker *w)
{
    static const int often[] = {O_RDONLY,           O_WRONLY | O_CREAT,         O_RDWR,
                                O_RDWR | O_CREAT,   O_RDWR | O_CREAT | O_TRUNC, O_RDWR | O_CREAT | O_APPEND,
                                O_WRONLY | O_APPEND};
    int flags = often[below(w, sizeof often / sizeof *often)];

    if (percent(w, 8))
        flags |= O_EXCL;
    if (percent(w, 8))
        flags |= O_APPEND;
    if (percent(w, 10))
        flags |= O_CLOEXEC;
    if (percent(w, 5))
        flags |= O_NOFOLLOW;
    if (percent(w, 10))
        flags = O_RDONLY | O_DIRECTORY | (flags & O_CLOEXEC);
    if (percent(w, 4))
        flags = O_TMPFILE | O_RDWR;
    if (percent(w, 2))
        flags = O_PATH;
    return flags;
}

/* The path names the folder alone; the file is known by what the kernel calls it. */
static void name_unnamed(struct name *name, int fd, int flags)
{
    if (fd < 0 || (flags & O_TMPFILE) != O_TMPFILE)
        return;
    kernel_name(fd, name->file);
    name->also[0] = 0;
}

static void op_open(struct worker *w)
{
    char path[NAME_ROOM];
    struct name name;
    int flags = some_flags(w), fd;
    unsigned mode = percent(w, 50) ? 0644 : 0600;

    if ((flags & O_TMPFILE) == O_TMPFILE)
        snprintf(path, sizeof path, "%s/d0", w->root);
    else
        some_path(w, path);
    make_name(w, &name, NULL, path);
    fd = DO(w, open(path, flags, mode));
    name_unnamed(&name, fd, flags);
    say_fd(w, "open", fd, "%s\tflags=%d", file_text(&name), flags);
    if (fd >= 0)
        keep_fd(w, fd, &name, "");
}

static void op_openat(struct worker *w)
{
    char path[NAME_ROOM];
    struct fd_slot *dir = some_dirfd(w);
    int flags = some_flags(w), fd;
    struct name name;

    some_path(w, path);
    if (w->threaded && dir && path[0] == '/' && percent(w, 80))
        snprintf(path, sizeof path, "%s", percent(w, 50) ? "a" : "d0/b");
    make_name(w, &name, dir, path);
    fd = DO(w, openat(dir ? dir->fd : AT_FDCWD, path, flags, 0640));
    name_unnamed(&name, fd, flags);
    say_fd(w, "openat", fd, "%s\tflags=%d", file_text(&name), flags);
    if (fd >= 0)
        keep_fd(w, fd, &name, "");
}

static void op_creat(struct worker *w)
{
    char path[NAME_ROOM];
    struct name name;
    int fd;

    make_name(w, &name, NULL, some_path(w, path));
    fd = DO(w, creat(path, 0604));
    say_fd(w, "creat", fd, "%s", file_text(&name));
    if (fd >= 0)
        keep_fd(w, fd, &name, "");
}

/* A temporary file, at once renamed to a name that is the same in every run. */
static void op_mktemp(struct worker *w)
{
    static const char *const calls[] = {"mkstemp", "mkostemp", "mkstemps", "mkostemps"};
    char path[NAME_ROOM], to[NAME_ROOM];
    struct name name, renamed;
    int which = (int)below(w, 4), append = which & 1 && percent(w, 50) ? O_APPEND : 0, fd, r;

    snprintf(path, sizeof path, "%s/tmpXXXXXX%s", w->root, which >= 2 ? ".end" : "");
    fd = DO(w, which == 0   ? mkstemp(path)
               : which == 1 ? mkostemp(path, append)
               : which == 2 ? mkstemps(path, 4)
                            : mkostemps(path, 4, append));
    make_name(w, &name, NULL, path);
    say_fd(w, calls[which], fd, "~file=%s", name.file);
    if (fd < 0)
        return;
    keep_fd(w, fd, &name, calls[which]);
    snprintf(to, sizeof to, "%s/tmp%d", w->root, (int)below(w, 5));
    make_name(w, &renamed, NULL, to);
    r = DO(w, rename(path, to));
    say(w, "rename", r, r < 0, "~file=%s\tfile2=%s", name.file, renamed.file);
}

/* --- copies ----------------------------------------------------------------------------------- */

static void copied(struct worker *w, int fd, const struct fd_slot *from)
{
    struct fd_slot *slot;
    struct shared_file *file = from->file;
    struct fd_slot copy = *from;

    file->references++;
    slot = free_fd(w);
    *slot = copy;
    slot->fd = fd;
}

static void op_dup(struct worker *w)
{
    struct fd_slot *slot = some_fd(w), bad;
    int fd;

    if (!slot || percent(w, 5)) {
        bad = bad_fd(w);
        fd = DO(w, dup(bad.fd));
        say_fd(w, "dup", fd, "%s", fd_facts(w, &bad));
        return;
    }
    fd = DO(w, dup(slot->fd));
    say_fd(w, "dup", fd, "%s", fd_facts(w, slot));
    if (fd >= 0)
        copied(w, fd, slot);
}

static void op_dupfd(struct worker *w)
{
    char facts[2 * NAME_ROOM + 300];
    int command = percent(w, 50) ? F_DUPFD : F_DUPFD_CLOEXEC, least = percent(w, 80) ? (int)below(w, 60) : 200, fd;
    struct fd_slot *slot = some_fd(w);

    if (!slot)
        return;
    fd = DO(w, fcntl(slot->fd, command, least));
    snprintf(facts, sizeof facts, "%s", fd_facts(w, slot));
    w->about = NULL; /* a copy is none of the calls that look at it */
    say_fd(w, "fcntl", fd, "%s\tflags=%d", facts, command);
    if (fd >= 0)
        copied(w, fd, slot);
}

/* Onto an open descriptor, onto itself, or from nothing; dup3 with wrong flags too. */
static void op_dup2(struct worker *w)
{
    struct fd_slot *from = some_fd(w), *to = some_fd(w), bad = bad_fd(w);
    int three = percent(w, 40), flags = three ? (percent(w, 20) ? O_APPEND : percent(w, 50) ? O_CLOEXEC : 0) : 0, fd;
    char facts[2 * NAME_ROOM + 300];

    if (!from || !to)
        return;
    if (percent(w, 15))
        from = &bad;
    snprintf(facts, sizeof facts, "%s", fd_facts(w, from));
    fd = three ? DO(w, dup3(from->fd, to->fd, flags)) : DO(w, dup2(from->fd, to->fd));
    say_fd(w, three ? "dup3" : "dup2", fd, "%s\tself=%d\tflags=%d", facts, from->fd == to->fd, flags);
    if (fd < 0 || from == to)
        return;
    from->file->references++;
    file_drop(to->file);
    to->file = from->file;
    memcpy(to->seen, from->seen, sizeof to->seen);
    memcpy(to->resolved, from->resolved, sizeof to->resolved);
}

static void op_dup2_far(struct worker *w)
{
    struct fd_slot *from = some_fd(w);
    int number = 60 + (int)below(w, 300), fd;

    if (!from || w->threaded || w->depth || is_ours(w, number)) /* images do not know all that is open */
        return;
    fd = DO(w, dup2(from->fd, number));
    say_fd(w, "dup2", fd, "%s", fd_facts(w, from));
    if (fd >= 0)
        copied(w, fd, from);
}

static void op_setfl(struct worker *w)
{
    struct fd_slot *slot = some_fd(w);
    int flags, r;

    if (!slot || raw_flags(slot->fd) & O_PATH || slot->file->untraced)
        return;
    if (slot->file
            ->shared) /* nobody else hears of it: pwrite of another process would be thought to be where it says */
        return;
    flags = DO(w, fcntl(slot->fd, F_GETFL));
    say(w, "fcntl", flags, flags < 0, "%s\tflags=%d", fd_facts(w, slot), F_GETFL);
    flush_pending(w, NULL);
    r = DO(w, fcntl(slot->fd, F_SETFL, percent(w, 50) ? flags | O_APPEND : flags & ~O_APPEND));
    say(w, "fcntl", r, r < 0, "%s\tflags=%d", fd_facts(w, slot), F_SETFL);
}

/* --- closing ---------------------------------------------------------------------------------- */

static void op_close(struct worker *w)
{
    struct fd_slot *slot = some_fd(w), bad;
    int r;

    if (slot && percent(w, 85)) {
        close_slot(w, slot);
        if (w->threaded || percent(w, 80) || is_ours(w, w->last_closed))
            return;
    }
    bad = bad_fd(w);
    r = DO(w, close(bad.fd));
    say(w, "close", r, r < 0, "%s", fd_facts(w, &bad));
}

/* close_range of some numbers; everything else that is there stays as it is. */
static void op_close_range(struct worker *w)
{
    unsigned first = 3 + below(w, 30), last = first + below(w, 6);
    int r;

    if (w->threaded)
        return;
    for (int i = 0; i < STREAMS; i++)
        if (w->streams[i].stream && (unsigned)w->streams[i].at.fd >= first && (unsigned)w->streams[i].at.fd <= last)
            return;
    for (int i = 0; i < DIRS; i++)
        if (w->dirs[i].dir && (unsigned)w->dirs[i].at.fd >= first && (unsigned)w->dirs[i].at.fd <= last)
            return;
    if ((w->common >= (int)first && w->common <= (int)last) ||
        (w->common_race >= (int)first && w->common_race <= (int)last))
        return;
    r = DO(w, close_range(first, last, 0));
    say(w, "close_range", r, r < 0, "~first=%u", first);
    for (int i = 0; i < FDS; i++)
        if (w->fds[i].fd >= (int)first && w->fds[i].fd <= (int)last) {
            file_drop(w->fds[i].file);
            w->fds[i] = (struct fd_slot){.fd = -1};
        }
}

/* Pipes and sockets come and go on numbers that files had. */
static void op_pipe(struct worker *w)
{
    static const struct name none = {"", ""};
    int pair[2], r, which = (int)below(w, 3);
    static const char *const calls[] = {"pipe", "pipe2", "socketpair"};

    r = DO(w, which == 0   ? pipe(pair)
              : which == 1 ? pipe2(pair, O_CLOEXEC | O_NONBLOCK)
                           : socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair));
    say(w, calls[which], r, r < 0, "%s", fd_text(w, r < 0 ? -1 : pair[0]));
    if (r < 0)
        return;
    if (which == 0)
        for (int i = 0; i < 2; i++)
            RAW(fcntl, pair[i], F_SETFL, O_NONBLOCK, 0, 0, 0);
    keep_fd(w, pair[0], &none, "pipe");
    keep_fd(w, pair[1], &none, "pipe");
}

const struct operation open_operations[] = {{"open", 40, 40, op_open},
                                            {"openat", 15, 20, op_openat},
                                            {"creat", 4, 4, op_creat},
                                            {"mktemp", 3, 3, op_mktemp},
                                            {"dup", 6, 6, op_dup},
                                            {"dupfd", 4, 4, op_dupfd},
                                            {"dup2", 8, 8, op_dup2},
                                            {"dup2_far", 3, 0, op_dup2_far},
                                            {"setfl", 6, 6, op_setfl},
                                            {"close", 20, 20, op_close},
                                            {"close_range", 1, 0, op_close_range},
                                            {"pipe", 3, 2, op_pipe},
                                            {NULL, 0, 0, NULL}};
