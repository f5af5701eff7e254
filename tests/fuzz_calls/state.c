/* SPDX-License-Identifier: MIT */
/* What a worker has open, and the choice among it. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct shared_file *file_new(const struct name *name, const char *origin)
{
    struct shared_file *file = calloc(1, sizeof *file);

    if (!file)
        abort();
    file->name = *name;
    file->origin = origin;
    file->untraced = name->file[0] != '/' || strstr(name->file, "/outside") || !strncmp(name->file, "/dev/", 5);
    return file;
}

void file_drop(struct shared_file *file)
{
    if (--file->references == 0)
        free(file);
}

static void add_once(char *to, size_t room, const char *call)
{
    size_t n = strlen(to);

    if (!strstr(to, call) && n + strlen(call) + 2 < room)
        snprintf(to + n, room - n, "%s%s", n ? "," : "", call);
}

void seen_by(struct worker *w, const char *call)
{
    static const char *const blind[] = {"close", "fclose", "dup", "dup2", "dup3"};

    for (size_t i = 0; i < sizeof blind / sizeof *blind; i++)
        if (strcmp(call, blind[i]) == 0)
            w->about = NULL;
    if (w->about)
        add_once(w->about->seen, sizeof w->about->seen, call);
    w->about = NULL;
}

void moved_by(struct shared_file *file, const char *call)
{
    add_once(file->moved_by, sizeof file->moved_by, call);
}

/* A call by the descriptor, not by the stream that is on its open file. */
static void mixes(const struct worker *w, const struct fd_slot *slot)
{
    int of_stream = 0, streams = 0;

    for (int i = 0; i < STREAMS; i++)
        if (w->streams[i].stream && w->streams[i].at.file == slot->file) {
            streams++;
            of_stream |= &w->streams[i].at == slot;
        }
    if (slot->file && (streams > 1 || (streams && !of_stream)))
        slot->file->mixed = 1;
}

struct name fd_name(const struct fd_slot *slot)
{
    struct name name = {"", ""};

    if (slot->file)
        name = slot->file->name;
    if (slot->file && slot->file->origin[0])
        snprintf(name.also, sizeof name.also, "%s", slot->resolved);
    return name;
}

const char *fd_facts(struct worker *w, struct fd_slot *slot)
{
    static _Thread_local char text[2][2 * NAME_ROOM + 300];
    static _Thread_local unsigned turn;
    char *to = text[turn++ % 2];
    const struct shared_file *file = slot->file;

    struct name name;

    mixes(w, slot);
    w->about = file ? slot : NULL;
    if (file && file->origin[0] && !slot->seen[0] && !file->untraced)
        kernel_name(slot->fd, slot->resolved);
    name = fd_name(slot);
    if (!file) {
        snprintf(to, sizeof text[0], "%s\tnothing=1", fd_text(w, slot->fd));
        return to;
    }
    snprintf(to, sizeof text[0], "%s\t%s\torigin=%s\tby=%s\tseen=%s%s%s%s%s", fd_text(w, slot->fd), file_text(&name),
             file->origin, file->moved_by, slot->seen, file->untraced ? "\tout=1" : "",
             file->shared ? "\tshared=1" : "", file->mixed ? "\tmixed=1" : "",
             raw_flags(slot->fd) > 0 && raw_flags(slot->fd) & O_APPEND ? "\tappends=1" : "");
    return to;
}

/* --- descriptors ------------------------------------------------------------------------------ */

void close_slot(struct worker *w, struct fd_slot *slot)
{
    char facts[2 * NAME_ROOM + 300];
    int r;

    snprintf(facts, sizeof facts, "%s", fd_facts(w, slot));
    r = DO(w, close(slot->fd));
    say(w, "close", r, r < 0, "%s", facts);
    file_drop(slot->file);
    w->last_closed = slot->fd;
    *slot = (struct fd_slot){.fd = -1};
}

struct fd_slot *free_fd(struct worker *w)
{
    for (int i = 0; i < FDS; i++)
        if (w->fds[i].fd < 0)
            return &w->fds[i];
    {
        struct fd_slot *slot = &w->fds[below(w, FDS)];

        close_slot(w, slot);
        return slot;
    }
}

void keep_fd(struct worker *w, int fd, const struct name *name, const char *origin)
{
    struct fd_slot *slot = free_fd(w);

    slot->fd = fd;
    slot->seen[0] = 0;
    slot->file = file_new(name, origin);
    slot->file->references = 1;
}

static int is_directory(int fd)
{
    struct stat st;

    return RAW(fstat, fd, &st, 0, 0, 0, 0) == 0 && S_ISDIR(st.st_mode);
}

static struct fd_slot *pick(struct worker *w, int (*wanted)(int fd))
{
    struct fd_slot *found[FDS];
    unsigned n = 0;

    for (int i = 0; i < FDS; i++)
        if (w->fds[i].fd >= 0 && (!wanted || wanted(w->fds[i].fd)))
            found[n++] = &w->fds[i];
    return n ? found[below(w, n)] : NULL;
}

struct fd_slot *some_fd(struct worker *w)
{
    return pick(w, NULL);
}

struct fd_slot *some_dirfd(struct worker *w)
{
    return pick(w, is_directory);
}

int is_ours(const struct worker *w, int fd)
{
    int found = fd < 3 || fd == w->common || fd == w->common_race;

    for (int i = 0; i < FDS; i++)
        found |= w->fds[i].fd == fd;
    for (int i = 0; i < STREAMS; i++)
        found |= w->streams[i].stream && w->streams[i].at.fd == fd;
    for (int i = 0; i < DIRS; i++)
        found |= w->dirs[i].dir && w->dirs[i].at.fd == fd;
    return found;
}

/* Something that is not open; among threads another one might open what has just been closed. */
struct fd_slot bad_fd(struct worker *w)
{
    int fd = w->threaded || w->depth || is_ours(w, w->last_closed) ? -1 : w->last_closed;

    return (struct fd_slot){.fd = percent(w, 20) ? 100000 : fd};
}

/* --- streams ---------------------------------------------------------------------------------- */

void close_stream(struct worker *w, struct stream_slot *s)
{
    char facts[2 * NAME_ROOM + 300];
    int r;

    snprintf(facts, sizeof facts, "%s", fd_facts(w, &s->at));
    r = DO(w, fclose(s->stream));
    say(w, "fclose", r, r != 0, "%s", facts);
    if (s->at.file->references > 1)
        moved_by(s->at.file, "fclose");
    file_drop(s->at.file);
    free(s->buffer);
    w->last_closed = s->at.fd;
    *s = (struct stream_slot){.at.fd = -1};
}

struct stream_slot *free_stream(struct worker *w)
{
    for (int i = 0; i < STREAMS; i++)
        if (!w->streams[i].stream)
            return &w->streams[i];
    {
        struct stream_slot *s = &w->streams[below(w, STREAMS)];

        close_stream(w, s);
        return s;
    }
}

struct stream_slot *some_stream(struct worker *w)
{
    struct stream_slot *found[STREAMS];
    unsigned n = 0;

    for (int i = 0; i < STREAMS; i++)
        if (w->streams[i].stream)
            found[n++] = &w->streams[i];
    return n ? found[below(w, n)] : NULL;
}

/* Nothing waits in a stream while others work: a program that mixes them does so. */
void flush_pending(struct worker *w, const struct stream_slot *except)
{
    for (int i = 0; i < STREAMS; i++) {
        struct stream_slot *s = &w->streams[i];
        int r;

        if (s == except || !s->stream || !stream_is_pending(s->stream))
            continue;
        stream_place(s, 0);
        r = DO(w, fflush(s->stream));
        stream_moved(s);
        say(w, "fflush", r, r != 0, "%s\tserial=%d", fd_facts(w, &s->at), s->serial);
    }
}

/* --- paths ------------------------------------------------------------------------------------ */

/* `..` behind a symlink is a place of its own: only behind true directories is a path with it what
 * it seems. */
static int are_directories(void)
{
    static const char *const names[] = {"d0", "d1", "d1/d2"};
    struct stat st;

    for (int i = 0; i < 3; i++)
        if (RAW(newfstatat, AT_FDCWD, names[i], &st, AT_SYMLINK_NOFOLLOW, 0, 0) < 0 || !S_ISDIR(st.st_mode))
            return 0;
    return 1;
}

const char *some_path(struct worker *w, char *to)
{
    static const char *const names[] = {"a",    "b",    "c",    "d",       "e",  "f f",  ".h",     "\xc3\xbc",
                                        "d0/a", "d0/b", "d1/a", "d1/d2/c", "d0", "d1",   "d1/d2",  "l0",
                                        "l1",   "l1/b", "no/x", "a/x",     "d3", "d3/y", "d1/d2/e"};
    static const char *const before[] = {"./", "d0/../", ".//", "././", "d1/d2/../../"};
    const char *name = names[below(w, percent(w, 50) ? 10 : sizeof names / sizeof *names)];
    unsigned how = below(w, 100);

    if (w->untraced_too && how < 4)
        snprintf(to, NAME_ROOM, "%s/outside/%s", w->root, name);
    else if (w->threaded || how < 20)
        snprintf(to, NAME_ROOM, "%s%s%s", w->root, how % 8 == 0 ? "//" : "/", name);
    else if (how < 40 && are_directories())
        snprintf(to, NAME_ROOM, "%s%s", before[below(w, 5)], name);
    else
        snprintf(to, NAME_ROOM, "%s", name);
    return to;
}

void close_dir(struct worker *w, struct dir_slot *d)
{
    char facts[2 * NAME_ROOM + 300];
    int r;

    snprintf(facts, sizeof facts, "%s", fd_facts(w, &d->at));
    r = DO(w, closedir(d->dir));
    say(w, "closedir", r, r < 0, "%s", facts);
    file_drop(d->at.file);
    *d = (struct dir_slot){.at.fd = -1};
}

/* --- the end ---------------------------------------------------------------------------------- */

void close_everything(struct worker *w)
{
    for (int i = 0; i < STREAMS; i++)
        if (w->streams[i].stream)
            close_stream(w, &w->streams[i]);
    for (int i = 0; i < DIRS; i++) {
        struct dir_slot *d = &w->dirs[i];

        if (d->dir)
            close_dir(w, d);
    }
    for (int i = 0; i < FDS; i++)
        if (w->fds[i].fd >= 0)
            close_slot(w, &w->fds[i]);
}
