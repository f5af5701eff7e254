/* SPDX-License-Identifier: MIT */
/* Finds traces and live files. A directory is listed again only when it has changed. */
#include "top/find.h"
#include "top/known.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "format/hash.h"

/* Two changes within a tick of the file system's clock look like one. */
#define TICK_NS 1000000000

static int ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n > m && !strcmp(name + n - m, end);
}

/* -1: no memory. */
static int is_new_path(struct dft_top_watch *watch, const char *path)
{
    uint64_t *place = dft_map_put(&watch->by_path, dft_name_id(path, strlen(path)));
    int is_new = place ? !*place : -1;

    if (place)
        *place = 1;
    return is_new;
}

int dft_top_is_new_file(struct dft_top_watch *watch, uint64_t device, uint64_t inode)
{
    uint64_t *place = dft_map_put(&watch->by_inode, dft_map_join(device, inode));
    int is_new = place ? !*place : -1;

    if (place)
        *place = 1;
    return is_new;
}

/* Sets *copy to a copy of a new path, or to NULL. Returns 0 or -ENOMEM. */
static int copy_new(struct dft_top_watch *watch, const char *path, char **copy)
{
    int is_new = is_new_path(watch, path);

    *copy = is_new > 0 ? strdup(path) : NULL;
    return !is_new || *copy ? 0 : -ENOMEM;
}

int dft_top_add_trace(struct dft_top_watch *watch, const char *path)
{
    char *copy;
    int rc = copy_new(watch, path, &copy);

    if (!copy)
        return rc;
    return DFT_ARRAY_PUSH(watch->traces, watch->traces_capacity, watch->ntraces,
                          (struct dft_top_trace){.path = copy, .fd = -1});
}

int dft_top_add_live(struct dft_top_watch *watch, const char *path)
{
    char *copy;
    int rc = copy_new(watch, path, &copy);

    if (!copy)
        return rc;
    return DFT_ARRAY_PUSH(watch->lives, watch->lives_capacity, watch->nlives,
                          (struct dft_top_live){.path = copy, .fd = -1, .pidfd = -1});
}

static int add_directory(struct dft_top_watch *watch, const char *path)
{
    char *copy;
    int rc = copy_new(watch, path, &copy);

    if (!copy)
        return rc;
    return DFT_ARRAY_PUSH(watch->directories, watch->directories_capacity, watch->ndirectories,
                          (struct dft_top_directory){.path = copy});
}

/* --- directories ------------------------------------------------------------------------------ */

static int list_entry(struct dft_top_watch *watch, const char *directory, const struct dirent *entry)
{
    size_t n = strlen(directory);
    struct stat st;
    char *path;
    int rc = 0;

    if (*entry->d_name == '.')
        return 0;
    if (asprintf(&path, "%s%s%s", directory, n && directory[n - 1] == '/' ? "" : "/", entry->d_name) < 0)
        return -ENOMEM;
    if (entry->d_type == DT_DIR || (entry->d_type == DT_UNKNOWN && !lstat(path, &st) && S_ISDIR(st.st_mode)))
        rc = add_directory(watch, path);
    else if (ends_with(path, ".dft.live"))
        rc = dft_top_add_live(watch, path);
    else if (ends_with(path, ".dft"))
        rc = dft_top_add_trace(watch, path);
    free(path);
    return rc;
}

/* The time of the listing is taken before it, so that no change is missed. */
static int list(struct dft_top_watch *watch, uint32_t number)
{
    const char *path = watch->directories[number].path;
    struct timespec now;
    struct stat st;
    struct dirent *entry;
    int64_t age_ns;
    DIR *dir;
    int rc = 0;

    if (stat(path, &st)) {
        if (errno != ENOENT)
            dft_top_watch_note(watch, 1, "%s: cannot be searched: %s", path, strerror(errno));
        return 0;
    }
    if (st.st_mtim.tv_sec == watch->directories[number].changed.tv_sec &&
        st.st_mtim.tv_nsec == watch->directories[number].changed.tv_nsec)
        return 0;
    clock_gettime(CLOCK_REALTIME, &now);
    age_ns = (now.tv_sec - st.st_mtim.tv_sec) * INT64_C(1000000000) + now.tv_nsec - st.st_mtim.tv_nsec;
    if (age_ns > TICK_NS)
        watch->directories[number].changed = st.st_mtim;
    dir = opendir(path);
    if (!dir) {
        dft_top_watch_note(watch, 1, "%s: cannot be searched: %s", path, strerror(errno));
        return 0;
    }
    while (!rc && (entry = readdir(dir)))
        rc = list_entry(watch, watch->directories[number].path, entry);
    closedir(dir);
    return rc;
}

/* --- the request ------------------------------------------------------------------------------ */

/* A trace and its live file belong together, whichever of them was named. */
static int add_file(struct dft_top_watch *watch, const char *path)
{
    char *other = NULL;
    int rc;

    if (ends_with(path, ".live")) {
        other = strndup(path, strlen(path) - strlen(".live"));
        rc = other ? dft_top_add_live(watch, path) : -ENOMEM;
        if (!rc && !access(other, F_OK))
            rc = dft_top_add_trace(watch, other);
    } else {
        if (asprintf(&other, "%s.live", path) < 0)
            return -ENOMEM;
        rc = dft_top_add_trace(watch, path);
        if (!rc && !access(other, F_OK))
            rc = dft_top_add_live(watch, other);
    }
    free(other);
    return rc;
}

static int add_path(struct dft_top_watch *watch, const char *path)
{
    struct stat st;

    if (stat(path, &st)) {
        if (errno != ENOENT || !ends_with(path, ".live"))
            dft_top_watch_note(watch, 1, "%s: %s", path, strerror(errno));
        return 0;
    }
    return S_ISDIR(st.st_mode) ? add_directory(watch, path) : add_file(watch, path);
}

static int add_given(struct dft_top_watch *watch, const char *path)
{
    glob_t found;
    int rc = 0;

    if (access(path, F_OK) == 0 || !strpbrk(path, "*?["))
        return add_path(watch, path);
    if (glob(path, 0, NULL, &found)) {
        dft_top_watch_note(watch, 1, "%s: no file fits this pattern", path);
        return 0;
    }
    for (size_t i = 0; !rc && i < found.gl_pathc; i++)
        rc = add_path(watch, found.gl_pathv[i]);
    globfree(&found);
    return rc;
}

int dft_top_find(struct dft_top_watch *watch)
{
    int rc = 0;

    if (!watch->is_begun)
        for (int i = 0; !rc && i < watch->npaths; i++)
            rc = add_given(watch, watch->paths[i]);
    watch->is_begun = 1;
    for (uint32_t i = 0; !rc && i < watch->ndirectories; i++)
        rc = list(watch, i);
    return rc;
}
