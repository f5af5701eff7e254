/* SPDX-License-Identifier: MIT */
/* Operations on directories, and the working directory. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct dir_slot *free_dir(struct worker *w)
{
    for (int i = 0; i < DIRS; i++)
        if (!w->dirs[i].dir)
            return &w->dirs[i];
    return NULL;
}

static struct dir_slot *some_dir(struct worker *w)
{
    struct dir_slot *d = &w->dirs[below(w, DIRS)];

    return d->dir ? d : NULL;
}

static void op_opendir(struct worker *w)
{
    struct dir_slot *d = free_dir(w);
    char path[NAME_ROOM];
    struct name name;
    DIR *dir;

    if (!d)
        return;
    if (percent(w, 60))
        snprintf(path, sizeof path, "%s/%s", w->root, percent(w, 50) ? "d0" : "d1");
    else
        some_path(w, path);
    make_name(w, &name, NULL, path);
    dir = DO(w, opendir(path));
    say_fd(w, "opendir", dir ? dirfd(dir) : -1, "%s", file_text(&name));
    if (!dir)
        return;
    *d = (struct dir_slot){dir, {dirfd(dir), "", file_new(&name, "")}};
    d->at.file->references = 1;
}

static void op_fdopendir(struct worker *w)
{
    struct dir_slot *d = free_dir(w);
    struct fd_slot *slot = percent(w, 80) ? some_dirfd(w) : some_fd(w), at;
    DIR *dir;

    if (!d || !slot)
        return;
    at = *slot;
    at.fd = DO(w, dup(slot->fd));
    say_fd(w, "dup", at.fd, "%s", fd_facts(w, slot));
    at.file->references++;
    dir = DO(w, fdopendir(at.fd));
    say(w, "fdopendir", dir ? 0 : -1, !dir, "%s\tgives_fd=1", fd_facts(w, &at));
    if (dir)
        *d = (struct dir_slot){dir, at};
    else
        close_slot(w, &at);
}

/* The order is the file system's, and names of temporary files differ. */
static void op_readdir(struct worker *w)
{
    struct dir_slot *d = some_dir(w);
    unsigned n = 1 + below(w, 6);
    struct dirent *entry;

    for (unsigned i = 0; d && i < n; i++) {
        entry = DO(w, readdir(d->dir));
        say(w, "readdir", entry != NULL, !entry && w->error != STALE_ERRNO, "%s\t~name=%s", fd_facts(w, &d->at),
            entry ? entry->d_name : "");
        if (!entry)
            return;
    }
}

static void op_rewinddir(struct worker *w)
{
    struct dir_slot *d = some_dir(w);

    if (!d)
        return;
    if (percent(w, 50)) {
        DO(w, (rewinddir(d->dir), 0));
        say(w, "rewinddir", 0, 0, "%s", fd_facts(w, &d->at));
    } else {
        long at = DO(w, telldir(d->dir));

        say(w, "telldir", 0, 0, "%s\t~at=%ld", fd_facts(w, &d->at), at);
        DO(w, (seekdir(d->dir, at), 0));
        say(w, "seekdir", 0, 0, "%s", fd_facts(w, &d->at));
    }
}

static void op_closedir(struct worker *w)
{
    struct dir_slot *d = some_dir(w);

    if (d)
        close_dir(w, d);
}

static void op_scandir(struct worker *w)
{
    struct dirent **entries = NULL;
    char path[NAME_ROOM];
    unsigned long sum = 0;
    struct name name;
    int n;

    make_name(w, &name, NULL, some_path(w, path));
    n = DO(w, scandir(path, &entries, NULL, alphasort));
    for (int i = 0; i < n; i++) {
        sum = sum * 31 + sum_of(entries[i]->d_name, strlen(entries[i]->d_name));
        free(entries[i]);
    }
    say(w, "scandir", n, n < 0, "%s\tsum=%lx", file_text(&name), sum);
    if (n >= 0)
        free(entries);
}

/* Away and, more often, back: most names mean something only at the root. */
static void op_chdir(struct worker *w)
{
    struct fd_slot *slot = some_dirfd(w);
    char path[NAME_ROOM], where[NAME_ROOM] = "";
    struct name name;
    int r;

    if (w->threaded)
        return;
    if (slot && percent(w, 30)) {
        r = DO(w, fchdir(slot->fd));
        say(w, "fchdir", r, r < 0, "%s", fd_facts(w, slot));
        return;
    }
    if (percent(w, 50))
        snprintf(path, sizeof path, "%s", w->root);
    else
        some_path(w, path);
    make_name(w, &name, NULL, path);
    r = DO(w, chdir(path));
    if (r == 0 && RAW(getcwd, where, sizeof where, 0, 0, 0, 0) > 0)
        strcpy(name.also, where);
    say(w, "chdir", r, r < 0, "%s", file_text(&name));
}

/* Back to the root: operations without a working directory would all fail alike. */
static void op_home(struct worker *w)
{
    struct name name;
    int r;

    if (w->threaded)
        return;
    make_name(w, &name, NULL, w->root);
    r = DO(w, chdir(w->root));
    say(w, "chdir", r, r < 0, "%s", file_text(&name));
}

const struct operation dir_operations[] = {
    {"opendir", 8, 8, op_opendir},     {"fdopendir", 4, 4, op_fdopendir}, {"readdir", 12, 12, op_readdir},
    {"rewinddir", 2, 2, op_rewinddir}, {"closedir", 5, 5, op_closedir},   {"scandir", 2, 2, op_scandir},
    {"chdir", 6, 0, op_chdir},         {"home", 6, 0, op_home},           {NULL, 0, 0, NULL}};
