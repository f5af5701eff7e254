/* SPDX-License-Identifier: MIT */
/* Operations on names and attributes. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

/* A path, sometimes below a directory's descriptor. */
static struct fd_slot *place_of(struct worker *w, char *path, struct name *name, unsigned at)
{
    struct fd_slot *dir = percent(w, at) ? some_dirfd(w) : NULL;

    some_path(w, path);
    make_name(w, name, dir, path);
    return dir;
}

static int number(const struct fd_slot *dir)
{
    return dir ? dir->fd : AT_FDCWD;
}

static void op_rename(struct worker *w)
{
    char from[NAME_ROOM], to[NAME_ROOM];
    struct name name, name2;
    unsigned which = below(w, 4), flags = percent(w, 30) ? 1u + below(w, 2) : 0; /* NOREPLACE, EXCHANGE */
    struct fd_slot *dir = place_of(w, from, &name, which ? 40 : 0), *dir2 = place_of(w, to, &name2, which ? 40 : 0);
    const char *call = which == 0 ? "rename" : which == 1 ? "renameat" : "renameat2";
    int r = which == 0   ? DO(w, rename(from, to))
            : which == 1 ? DO(w, renameat(number(dir), from, number(dir2), to))
                         : DO(w, renameat2(number(dir), from, number(dir2), to, flags));

    say(w, call, r,
        r<0, "%s\tfile2=%s\talso2=%s\tflags=%u", file_text(&name), name2.file, name2.also, which> 1 ? flags : 0);
}

static void op_link(struct worker *w)
{
    char from[NAME_ROOM], to[NAME_ROOM];
    struct name name, name2;
    int at = percent(w, 50), r;
    struct fd_slot *dir = place_of(w, from, &name, at ? 40 : 0), *dir2 = place_of(w, to, &name2, at ? 40 : 0);

    r = at ? DO(w, linkat(number(dir), from, number(dir2), to, 0)) : DO(w, link(from, to));
    say(w, at ? "linkat" : "link", r, r < 0, "%s\tfile2=%s\talso2=%s", file_text(&name), name2.file, name2.also);
}

static void op_symlink(struct worker *w)
{
    static const char *const targets[] = {"a", "b", "d0", "d1", "d1/d2", "l1", "nowhere", "d0/a"};
    const char *target = targets[below(w, 8)];
    char path[NAME_ROOM];
    struct name name;
    int at = percent(w, 50), r;
    struct fd_slot *dir = place_of(w, path, &name, at ? 40 : 0);

    r = at ? DO(w, symlinkat(target, number(dir), path)) : DO(w, symlink(target, path));
    say(w, at ? "symlinkat" : "symlink", r, r < 0, "target=%s\t%s", target, file_text(&name));
}

static void op_readlink(struct worker *w)
{
    char path[NAME_ROOM], text[100] = "";
    struct name name;
    int at = percent(w, 50);
    struct fd_slot *dir = place_of(w, path, &name, at ? 40 : 0);
    long r = at ? DO(w, readlinkat(number(dir), path, text, 5 + below(w, 90)))
                : DO(w, readlink(path, text, 5 + below(w, 90)));

    say(w, at ? "readlinkat" : "readlink", r, r < 0, "%s\ttext=%s", file_text(&name), text);
}

static void op_unlink(struct worker *w)
{
    char path[NAME_ROOM];
    struct name name;
    unsigned which = below(w, 5);
    struct fd_slot *dir = place_of(w, path, &name, which ? 40 : 0);
    int flags = which == 4 ? AT_REMOVEDIR : 0, r;

    if (which < 2) {
        r = DO(w, unlink(path));
        make_name(w, &name, NULL, path);
        say(w, "unlink", r, r < 0, "%s", file_text(&name));
    } else if (which == 2) {
        make_name(w, &name, NULL, path);
        r = DO(w, remove(path));
        say(w, "remove", r, r < 0, "%s", file_text(&name));
    } else {
        r = DO(w, unlinkat(number(dir), path, flags));
        say(w, "unlinkat", r, r < 0, "%s\tflags=%d", file_text(&name), flags);
    }
}

static void op_mkdir(struct worker *w)
{
    char path[NAME_ROOM];
    struct name name;
    int at = percent(w, 50), r;
    struct fd_slot *dir = place_of(w, path, &name, at ? 40 : 0);

    r = at ? DO(w, mkdirat(number(dir), path, 0755)) : DO(w, mkdir(path, 0755));
    say(w, at ? "mkdirat" : "mkdir", r, r < 0, "%s", file_text(&name));
}

static void op_rmdir(struct worker *w)
{
    char path[NAME_ROOM];
    struct name name;
    int r;

    place_of(w, path, &name, 0);
    r = DO(w, rmdir(path));
    say(w, "rmdir", r, r < 0, "%s", file_text(&name));
}

/* --- stat and its like ------------------------------------------------------------------------ */

static void op_stat(struct worker *w)
{
    static const char *const calls[] = {"stat", "lstat", "fstatat", "statx", "access", "faccessat"};
    unsigned which = below(w, 6);
    char path[NAME_ROOM];
    struct name name;
    struct fd_slot *dir = place_of(w, path, &name, which < 2 || which == 4 ? 0 : 40);
    struct statx stx = {0};
    struct stat st = {0};
    int r = which == 0   ? DO(w, stat(path, &st))
            : which == 1 ? DO(w, lstat(path, &st))
            : which == 2 ? DO(w, fstatat(number(dir), path, &st, AT_SYMLINK_NOFOLLOW))
            : which == 3 ? DO(w, statx(number(dir), path, 0, STATX_BASIC_STATS, &stx))
            : which == 4 ? DO(w, access(path, W_OK))
                         : DO(w, faccessat(number(dir), path, F_OK, 0));

    say(w, calls[which], r, r < 0, "%s\tmode=%o\tsees=%ld", file_text(&name), st.st_mode | stx.stx_mode,
        r < 0 || S_ISDIR(st.st_mode | stx.stx_mode) ? 0 : (long)(st.st_size + (long)stx.stx_size));
}

static void op_fstat(struct worker *w)
{
    struct fd_slot bad = bad_fd(w), *slot = some_fd(w);
    struct stat st = {0};
    int r;

    if (!slot || percent(w, 3))
        slot = &bad;
    r = DO(w, fstat(slot->fd, &st));
    say(w, "fstat", r, r < 0, "%s\tsees=%ld", fd_facts(w, slot), S_ISREG(st.st_mode) ? (long)st.st_size : 0);
}

static void op_chmod(struct worker *w)
{
    static const unsigned modes[] = {0644, 0600, 0755, 0700};
    unsigned mode = modes[below(w, 4)];
    struct fd_slot *slot = some_fd(w), *dir;
    char path[NAME_ROOM];
    struct name name;
    int r;

    if (slot && percent(w, 40)) {
        r = DO(w, fchmod(slot->fd, mode));
        say(w, "fchmod", r, r < 0, "%s", fd_facts(w, slot));
        return;
    }
    dir = place_of(w, path, &name, 40);
    if (!dir) {
        r = DO(w, chmod(path, mode));
        say(w, "chmod", r, r < 0, "%s", file_text(&name));
    } else {
        r = DO(w, fchmodat(dir->fd, path, mode, 0));
        say(w, "fchmodat", r, r < 0, "%s", file_text(&name));
    }
}

static void op_times(struct worker *w)
{
    struct timespec times[2] = {{1000000 + below(w, 1000), 0}, {2000000 + below(w, 1000), 500}};
    struct fd_slot *slot = some_fd(w), *dir;
    char path[NAME_ROOM];
    struct name name;
    int r;

    if (slot && percent(w, 40)) {
        r = DO(w, futimens(slot->fd, times));
        say(w, "futimens", r, r < 0, "%s", fd_facts(w, slot));
        return;
    }
    dir = place_of(w, path, &name, 40);
    r = DO(w, utimensat(number(dir), path, times, 0));
    say(w, "utimensat", r, r < 0, "%s", file_text(&name));
}

static void op_xattr(struct worker *w)
{
    struct fd_slot *slot = some_fd(w);
    char path[NAME_ROOM], value[40];
    struct name name;
    long r;

    if (slot && percent(w, 50)) {
        r = DO(w, fsetxattr(slot->fd, "user.fuzz", "value", 5, 0));
        say(w, "fsetxattr", r, r < 0, "%s", fd_facts(w, slot));
        r = DO(w, fgetxattr(slot->fd, "user.fuzz", value, sizeof value));
        say(w, "fgetxattr", r, r < 0, "%s", fd_facts(w, slot));
        return;
    }
    place_of(w, path, &name, 0);
    r = DO(w, setxattr(path, "user.fuzz", "other", 5, 0));
    say(w, "setxattr", r, r < 0, "%s", file_text(&name));
    r = DO(w, getxattr(path, "user.fuzz", value, sizeof value));
    say(w, "getxattr", r, r < 0, "%s", file_text(&name));
}

static void op_flock(struct worker *w)
{
    struct fd_slot *slot = some_fd(w);
    int r;

    if (!slot || w->threaded)
        return;
    r = DO(w, flock(slot->fd, (percent(w, 70) ? LOCK_SH : LOCK_UN) | LOCK_NB));
    say(w, "flock", r, r < 0, "%s", fd_facts(w, slot));
}

static void op_lockf(struct worker *w)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 10};
    struct fd_slot *slot = some_fd(w);
    int r;

    if (!slot || w->threaded)
        return;
    r = DO(w, fcntl(slot->fd, F_SETLK, &lock));
    say(w, "fcntl", r, r < 0, "%s\tflags=%d", fd_facts(w, slot), F_SETLK);
}

const struct operation meta_operations[] = {
    {"rename", 10, 10, op_rename},   {"link", 5, 5, op_link},     {"symlink", 4, 4, op_symlink},
    {"readlink", 4, 4, op_readlink}, {"unlink", 9, 9, op_unlink}, {"mkdir", 6, 6, op_mkdir},
    {"rmdir", 2, 2, op_rmdir},       {"stat", 15, 15, op_stat},   {"fstat", 5, 5, op_fstat},
    {"chmod", 3, 3, op_chmod},       {"times", 3, 3, op_times},   {"xattr", 2, 2, op_xattr},
    {"flock", 2, 0, op_flock},       {"lockf", 2, 0, op_lockf},   {NULL, 0, 0, NULL}};
