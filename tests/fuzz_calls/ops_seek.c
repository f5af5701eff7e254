/* SPDX-License-Identifier: MIT */
/* Operations that move offsets and change the size of files. */
#include "fuzz.h"

#include <unistd.h>

static void op_lseek(struct worker *w)
{
    static const int whences[] = {SEEK_SET, SEEK_SET, SEEK_CUR, SEEK_END, SEEK_DATA, SEEK_HOLE, 77};
    struct fd_slot bad = bad_fd(w), *slot = some_fd(w);
    int whence = whences[below(w, 7)];
    long by = whence == SEEK_CUR || whence == SEEK_END ? (long)below(w, 400) - 200 : some_offset(w), r;

    if (!slot || percent(w, 3))
        slot = &bad;
    flush_pending(w, NULL);
    r = DO(w, lseek(slot->fd, by, whence));
    if (r >= 0 &&
        (whence == SEEK_DATA || whence == SEEK_HOLE)) { /* what is a hole is the file system's affair, and changes */
        say(w, "lseek", 0, 0, "%s\tflags=%d\t~at=%ld", fd_facts(w, slot), whence, r);
        whence = SEEK_SET;
        r = DO(w, lseek(slot->fd, by, whence));
    }
    say(w, "lseek", r, r < 0, "%s\tflags=%d", fd_facts(w, slot), whence);
    if (slot->file && r >= 0)
        slot->file->moved_by[0] = 0;
}

static void op_ftruncate(struct worker *w)
{
    struct fd_slot bad = bad_fd(w), *slot = some_fd(w);
    long length = some_offset(w);
    int r;

    if (!slot || percent(w, 3))
        slot = &bad;
    flush_pending(w, NULL);
    r = DO(w, ftruncate(slot->fd, length));
    say(w, "ftruncate", r, r < 0, "%s\toffset=%ld", fd_facts(w, slot), length);
}

static void op_truncate(struct worker *w)
{
    char path[NAME_ROOM];
    long length = some_offset(w);
    struct name name;
    int r;

    flush_pending(w, NULL);
    make_name(w, &name, NULL, some_path(w, path));
    r = DO(w, truncate(path, length));
    say(w, "truncate", r, r < 0, "%s\toffset=%ld", file_text(&name), length);
}

static void op_fallocate(struct worker *w)
{
    static const int modes[] = {0, FALLOC_FL_KEEP_SIZE, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE,
                                FALLOC_FL_ZERO_RANGE};
    struct fd_slot *slot = some_fd(w);
    int mode = modes[below(w, 4)], r;
    long at = below(w, 30000), length = 1 + below(w, 20000);

    if (!slot)
        return;
    flush_pending(w, NULL);
    if (percent(w, 30)) {
        r = DO(w, posix_fallocate(slot->fd, at, length));
        say(w, "posix_fallocate", r, 0, "%s\toffset=%ld\tsize=%ld", fd_facts(w, slot), at, length);
    } else {
        r = DO(w, fallocate(slot->fd, mode, at, length));
        say(w, "fallocate", r, r < 0, "%s\tflags=%d\toffset=%ld\tsize=%ld", fd_facts(w, slot), mode, at, length);
    }
}

static void op_sync(struct worker *w)
{
    struct fd_slot *slot = some_fd(w);
    int r, which = (int)below(w, 5);

    if (!slot)
        return;
    if (which == 0) {
        r = DO(w, fdatasync(slot->fd));
        say(w, "fdatasync", r, r < 0, "%s", fd_facts(w, slot));
    } else if (which == 1) {
        r = DO(w, fsync(slot->fd));
        say(w, "fsync", r, r < 0, "%s", fd_facts(w, slot));
    } else {
        r = DO(w, posix_fadvise(slot->fd, 0, 4096, (int)below(w, 6)));
        say(w, "posix_fadvise", r, 0, "%s\toffset=0\tsize=4096", fd_facts(w, slot));
    }
}

const struct operation seek_operations[] = {{"lseek", 25, 25, op_lseek},     {"ftruncate", 6, 6, op_ftruncate},
                                            {"truncate", 4, 4, op_truncate}, {"fallocate", 3, 3, op_fallocate},
                                            {"sync", 2, 2, op_sync},         {NULL, 0, 0, NULL}};
