/* SPDX-License-Identifier: MIT */
/* Calls on directories, and walks through whole trees: what happens in their visits is seen from
 * where the walk is. */
#include "told_calls.h"

#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIRECTORY (O_RDONLY | O_DIRECTORY)

/* tree/file, tree/below/deep */
static void plant(void)
{
    static const char *const files[] = {"tree/file", "tree/below/deep"};

    DO(mkdir, ("tree", 0755), .file = "tree", .mode = 0755);
    DO(mkdir, ("tree/below", 0755), .file = "tree/below", .mode = 0755);
    for (int i = 0; i < 2; i++) {
        int fd =
            (int)DO(creat, (files[i], 0600), .file = files[i], .flags = O_CREAT | O_WRONLY | O_TRUNC, .mode = 0600);

        DO(close, (fd), .file = files[i], .fd = fd);
    }
}

static void directory(void)
{
    int fd = (int)DO(open, ("tree/below", DIRECTORY), .file = "tree/below", .flags = DIRECTORY);
    DIR *dir = GET(fdopendir, (fd), .file = "tree/below", .fd = fd, .success = fd);
    struct dirent entry, *found;
    long start;

    start = DO(telldir, (dir), .file = "tree/below", .fd = fd);
    for (int i = 0; i < 4; i++) /* ., .., deep, the end */
        DO(readdir_r, (dir, &entry, &found), .file = "tree/below", .fd = fd, .returns_error = 1);
    NOTHING(rewinddir, (dir), .file = "tree/below", .fd = fd);
    GET(readdir, (dir), .file = "tree/below", .fd = fd, .success = 1, .errno_tells = 1);
    NOTHING(seekdir, (dir, start), .file = "tree/below", .fd = fd, .offset = start);
    DO(readdir_r, (dir, &entry, &found), .file = "tree/below", .fd = fd, .returns_error = 1);
    DO(closedir, (dir), .file = "tree/below", .fd = fd);
}

static void raw(void)
{
    int fd = (int)DO(open, ("tree", DIRECTORY), .file = "tree", .flags = DIRECTORY);
    int plain = (int)DO(open, ("tree/file", O_RDONLY), .file = "tree/file");
    char buffer[2048];
    off_t position = 0;

    DO(getdents64, (fd, buffer, sizeof buffer), .file = "tree", .fd = fd, .size = sizeof buffer);
    DO(getdents64, (plain, buffer, sizeof buffer), .file = "tree/file", .fd = plain, .size = sizeof buffer);
    DO(getdirentries, (fd, buffer, sizeof buffer, &position), .file = "tree", .fd = fd, .size = sizeof buffer);
    DO(getdirentries, (plain, buffer, sizeof buffer, &position), .file = "tree/file", .fd = plain,
       .size = sizeof buffer);
    DO(close, (fd), .file = "tree", .fd = fd);
    DO(close, (plain), .file = "tree/file", .fd = plain);
}

static void listed(void)
{
    int folder = (int)DO(open, ("tree", DIRECTORY), .file = "tree", .flags = DIRECTORY), n;
    struct dirent **list;
    glob_t found;

    n = (int)DO(scandir, ("tree", &list, NULL, alphasort), .file = "tree");
    while (n > 0)
        free(list[--n]);
    DO(scandir, ("tree/no", &list, NULL, NULL), .file = "tree/no");
    n = (int)DO(scandirat, (folder, "below", &list, NULL, NULL), .file = "tree/below");
    while (n > 0)
        free(list[--n]);
    DO(scandirat, (folder, "file", &list, NULL, NULL), .file = "tree/file");
    DO(glob, ("tree/f*", GLOB_MARK, NULL, &found), .file = "tree/f*", .flags = GLOB_MARK);
    globfree(&found);
    DO(glob, ("tree/no*", 0, NULL, &found), .file = "tree/no*"); /* GLOB_NOMATCH, which is no error of errno */
    DO(close, (folder), .file = "tree", .fd = folder);
}

static int visit(const char *path, const struct stat *st, int kind)
{
    (void)st;
    (void)kind;
    DO(access, (path, R_OK), .file = path, .mode = R_OK);
    return strcmp(path, "tree/below/deep") ? 0 : 42;
}

/* With FTW_CHDIR the walk is in the file's folder. */
static int visit_there(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    DO(access, (path + at->base, R_OK), .file = path, .mode = R_OK);
    return 0;
}

static void walked(void)
{
    DO(ftw, ("tree", visit, 5), .file = "tree");
    DO(ftw, ("no", visit, 5), .file = "no");
    DO(nftw, ("tree", visit_there, 5, FTW_CHDIR | FTW_PHYS), .file = "tree", .flags = FTW_CHDIR | FTW_PHYS);
    DO(nftw, ("no", visit_there, 5, FTW_CHDIR), .file = "no", .flags = FTW_CHDIR);
    DO(access, ("tree", R_OK), .file = "tree", .mode = R_OK); /* and back again */
}

static int by_name(const FTSENT **one, const FTSENT **other)
{
    return strcmp((*one)->fts_name, (*other)->fts_name);
}

static void walked_by_hand(int options)
{
    /* as fts goes: each folder before and behind what it holds */
    static const char *const order[] = {"tree", "tree/below", "tree/below/deep", "tree/below", "tree/file", "tree"};
    char *const paths[] = {(char *)"tree", NULL};
    FTS *walk = GET(fts_open, (paths, options, by_name), .file = "tree", .flags = options);
    FTSENT *entry;

    for (int i = 0; i < 6; i++) {
        entry = GET(fts_read, (walk), .file = order[i], .success = 1);
        if (!entry || strcmp(entry->fts_path, order[i]))
            abort();
        DO(access, (entry->fts_accpath, R_OK), .file = order[i], .mode = R_OK);
        if (entry->fts_info == FTS_D)
            GET(fts_children, (walk, FTS_NAMEONLY), .file = order[i], .flags = FTS_NAMEONLY, .success = 1);
    }
    GET(fts_read, (walk), .errno_tells = 1);
    DO(fts_close, (walk), .file = NULL);
    DO(access, ("tree", R_OK), .file = "tree", .mode = R_OK);
}

void walks(void)
{
    char *const nothing[] = {(char *)"", NULL};

    plant();
    directory();
    raw();
    listed();
    walked();
    walked_by_hand(FTS_PHYSICAL);
    walked_by_hand(FTS_PHYSICAL | FTS_NOCHDIR);
    GET(fts_open, (nothing, 0, NULL), .file = NULL); /* EINVAL: neither physical nor logical */
}
