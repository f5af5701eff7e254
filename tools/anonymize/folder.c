/* SPDX-License-Identifier: MIT */
/* Makes a folder beside its place, renames it when it is whole, and removes it when it is not. */
#include "anonymize/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/open_regular.h"
#include "base/outfile.h"
#include "base/whole_file.h"

static int refuse(const char *path, const char *why)
{
    fprintf(stderr, "dftmerge: anonymize -o %s: %s; nothing was written\n", path, why);
    return -EINVAL;
}

/* Without the slashes at its end. */
static char *trimmed(const char *path)
{
    char *copy = strdup(path);

    for (size_t n = copy ? strlen(copy) : 0; n > 1 && copy[n - 1] == '/'; n--)
        copy[n - 1] = 0;
    return copy;
}

/* Where the folder lies, as the kernel has it. NULL: nowhere, errno says why. */
static char *real_parent(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *parent = !slash ? strdup(".") : slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
    char *real = parent ? realpath(parent, NULL) : NULL;

    free(parent);
    return real;
}

/* Is the folder, or what it would lie in, one of the inputs, or in one of them? */
static int is_in_input(const char *parent, char *const *inputs, int ninputs)
{
    int found = 0;

    for (int i = 0; i < ninputs && !found; i++) {
        char *input = realpath(inputs[i], NULL);
        size_t length = input ? strlen(input) : 0;
        struct stat st;

        found = length && !stat(input, &st) && S_ISDIR(st.st_mode) &&
                (length == 1 || (!strncmp(parent, input, length) && (!parent[length] || parent[length] == '/')));
        free(input);
    }
    return found;
}

/* Is nothing there, or an empty folder? */
static int is_free(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;
    int some = 0;

    if (!dir)
        return errno == ENOENT;
    while ((entry = readdir(dir)))
        some += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
    closedir(dir);
    return !some;
}

static int make(struct dft_folder *folder)
{
    mode_t mask = umask(0);
    struct stat st;

    umask(mask);
    if (asprintf(&folder->temporary, "%s.XXXXXX", folder->path) < 0) {
        folder->temporary = NULL;
        return -ENOMEM;
    }
    if (mkdtemp(folder->temporary)) {
        int fd = open(folder->temporary, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), error;

        if (fd < 0)
            return -errno;
        if (!lstat(folder->path, &st) && S_ISDIR(st.st_mode)) /* an empty one, which this one replaces */
            error = dft_whole_file_like(fd, folder->path, &st);
        else
            error = fchmod(fd, 0777 & ~mask) ? -errno : 0;
        close(fd);
        return error;
    }
    free(folder->temporary);
    folder->temporary = NULL;
    return -errno;
}

int dft_folder_open(struct dft_folder *folder, const char *path, char *const *inputs, int ninputs)
{
    char *parent;
    int error = 0;

    *folder = (struct dft_folder){.path = trimmed(path)};
    if (!folder->path)
        return -ENOMEM;
    parent = real_parent(folder->path);
    if (!parent)
        dft_outfile_say(path, error = -errno);
    else if (is_in_input(parent, inputs, ninputs))
        error = refuse(path, "it would lie among the traces that are read, and be given away or read with them. Name a "
                             "folder elsewhere");
    else if (!is_free(folder->path))
        error = refuse(path, "it is there already and is not empty. Name a new folder, or an empty one");
    free(parent);
    if (error)
        return error;
    error = make(folder);
    if (error)
        dft_outfile_say(path, error);
    return error;
}

int dft_folder_commit(struct dft_folder *folder)
{
    if (rename(folder->temporary, folder->path) < 0) {
        int error = -errno;

        dft_outfile_say(folder->path, error);
        return error;
    }
    free(folder->temporary);
    folder->temporary = NULL;
    return 0;
}

static void remove_files(const char *path)
{
    DIR *dir = dft_opendir_itself(path);
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(path);
}

void dft_folder_abort(struct dft_folder *folder)
{
    if (folder->temporary)
        remove_files(folder->temporary);
    free(folder->temporary);
    free(folder->path);
    *folder = (struct dft_folder){0};
}
