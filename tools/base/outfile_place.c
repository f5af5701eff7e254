/* SPDX-License-Identifier: MIT */
/* Decides what OUT means for every command: a file, or a directory with files in it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/outfile.h"

static int is_there(const char *path)
{
    struct stat st;

    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

int dft_outfile_is_directory(const char *path)
{
    size_t length = strlen(path);

    return (length && path[length - 1] == '/') || is_there(path);
}

int dft_outfile_make_directory(const char *path)
{
    if (!mkdir(path, 0777) || is_there(path))
        return 0;
    return errno == EEXIST ? -ENOTDIR : -errno;
}

char *dft_outfile_inside(const char *directory, const char *name)
{
    size_t length = strlen(directory);
    char *path;

    return asprintf(&path, "%s%s%s", directory, length && directory[length - 1] == '/' ? "" : "/", name) < 0 ? NULL
                                                                                                             : path;
}

/* The directory that `path` lies in, when that directory is missing. NULL: the directory exists, or
 * there is no memory. */
static char *missing_parent(const char *path)
{
    char *parent = strdup(path), *slash;

    for (size_t n = parent ? strlen(parent) : 0; n > 1 && parent[n - 1] == '/'; n--)
        parent[n - 1] = '\0';
    slash = parent ? strrchr(parent, '/') : NULL;
    if (slash && slash > parent) {
        *slash = '\0';
        if (access(parent, F_OK))
            return parent;
    }
    free(parent);
    return NULL;
}

void dft_outfile_say(const char *path, int error)
{
    char *missing = error == -ENOENT ? missing_parent(path) : NULL;

    if (missing)
        fprintf(stderr, "dftmerge: %s: there is no directory %s; nothing was written\n", path, missing);
    else
        fprintf(stderr, "dftmerge: %s: %s; nothing was written\n", path, strerror(-error));
    free(missing);
}
