/* SPDX-License-Identifier: MIT */
/* Tries whether traces can be written. The trial runs before a program that perhaps nobody can run
 * again. The trial also runs after a program that left no trace.
 *
 * The trial leaves everything as it was: the library makes the directories itself when there is
 * something to write. The ranks of a job may try one directory at the same time. One rank may
 * remove what another rank has just found. The other rank then makes it again. */
#include "dftrun/dftrun_folder.h"
#include "dftrun/dftrun_own.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES 100

int dft_folder_absolute(char absolute[PATH_MAX], const char *path)
{
    char cwd[PATH_MAX] = "";
    int n;

    if (*path != '/' && !getcwd(cwd, sizeof cwd))
        return -errno;
    n = snprintf(absolute, PATH_MAX, "%s%s%s", cwd, *cwd && cwd[1] ? "/" : "", path);
    return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* `pipe` and `socket` in front of a colon, and `all`, are no directories: DFTRACER_DATA_DIR has the rules. */
static int is_relative(const char *entry, size_t length, int is_no_word)
{
    static const char *const words[] = {"all", "pipe", "socket"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && !memcmp(entry, words[i], length) && !(i && is_no_word))
            return 0;
    return length && *entry != '/';
}

char *dft_folder_data_dirs(const char *list)
{
    char cwd[PATH_MAX], *absolute = NULL;
    size_t size;
    FILE *file;

    if (!getcwd(cwd, sizeof cwd) || *cwd != '/')
        return strdup(list); /* the library knows no better */
    file = open_memstream(&absolute, &size);
    while (file && *list) {
        const size_t length = strcspn(list, ":"), sign = *list == '!';

        fprintf(file, "%.*s", (int)sign, list);
        if (is_relative(list + sign, length - sign, sign || !list[length]))
            fprintf(file, "%s/", cwd[1] ? cwd : "");
        fprintf(file, "%.*s%s", (int)(length - sign), list + sign, list[length] ? ":" : "");
        list += length + (list[length] == ':');
    }
    if (file && fclose(file))
        absolute = NULL;
    return absolute;
}

/* The umask does not take the owner's rights, as in the library. dftrun has one thread here. */
int dft_folder_make_one(const char *path, mode_t mode)
{
    const mode_t mask = umask(0);
    int error;

    umask(mask & ~(mode_t)0700);
    error = mkdir(path, mode) < 0 ? -errno : 0;
    umask(mask);
    return error;
}

/* Makes the directories that `file` lies in. *made: the length of the path of the first missing
 * directory, or 0. Returns 0, or -errno of the first directory that could not be made. */
static int make_directories(char *file, size_t *made)
{
    int failed = 0;

    *made = 0;
    for (char *slash = strchr(file + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        int rc;

        *slash = '\0';
        rc = dft_folder_make_one(file, 0777);
        if (!rc && !*made)
            *made = strlen(file);
        else if (rc < 0 && rc != -EEXIST && !failed)
            failed = rc;
        *slash = '/';
    }
    return failed;
}

static void remove_directories(char *file, size_t made)
{
    char *slash;

    while (made && (slash = strrchr(file, '/')) && (size_t)(slash - file) >= made) {
        *slash = '\0';
        if (rmdir(file) < 0)
            return; /* another rank uses the directory by now */
    }
}

/* A full disk, or a quota, may let a process create files that cannot hold anything. */
static int write_page(int fd)
{
    static const char page[4096];
    ssize_t n = write(fd, page, sizeof page);

    return n < 0 ? -errno : n < (ssize_t)sizeof page ? -ENOSPC : 0;
}

static int try_once(const char *prefix)
{
    char file[PATH_MAX + 16];
    size_t made;
    int error, fd;

    snprintf(file, sizeof file, "%s-XXXXXX", prefix);
    error = make_directories(file, &made);
    fd = mkostemp(file, O_CLOEXEC);
    if (fd >= 0) {
        error = write_page(fd);
        dft_own_remove(AT_FDCWD, file, fd);
        close(fd);
    } else if (!error || errno != ENOENT) {
        error = -errno;
    }
    remove_directories(file, made);
    return error;
}

int dft_folder_make(const char *file)
{
    char path[PATH_MAX];
    size_t made;

    if (snprintf(path, sizeof path, "%s", file) >= (int)sizeof path)
        return -ENAMETOOLONG;
    return make_directories(path, &made);
}

int dft_folder_try(const char *prefix)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    int error = -ENOENT;

    /* exceeding a limit on the size of files must not kill dftrun */
    sigaction(SIGXFSZ, &ignore, &before);
    for (int i = 0; i < TRIES && error == -ENOENT; i++)
        error = try_once(prefix);
    sigaction(SIGXFSZ, &before, NULL);
    return error;
}
