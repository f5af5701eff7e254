/* SPDX-License-Identifier: MIT */
/* Tries whether traces can be written. The trial runs before a program that perhaps nobody can run
 * again. The trial also runs after a program that left no trace.
 *
 * The trial leaves everything as it was: the library makes the directories itself when there is
 * something to write. The ranks of a job may try one directory at the same time. One rank may
 * remove what another rank has just found. The other rank then makes it again. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dftrun/dftrun.h"

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

/* Gives back the owner's rights where the umask takes them, as the library does. */
static int make_directory(const char *path)
{
    struct stat st;
    char own[64];
    int fd;

    if (mkdir(path, 0777) < 0)
        return -errno;
    fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); /* it may not be readable yet */
    snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
    if (fd >= 0 && !fstat(fd, &st) && st.st_uid == geteuid() && (st.st_mode & 0700) != 0700)
        chmod(own, (st.st_mode & 07777) | 0700);
    if (fd >= 0)
        close(fd);
    return 0;
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
        rc = make_directory(file);
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
        close(fd);
        unlink(file);
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
