/* SPDX-License-Identifier: MIT */
/* Predicts whether an exec will succeed, as far as access rights show. */
#include "probe/executable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/sys.h"

static int is_executable(int dirfd, const char *path)
{
    long result = dft_is_sandboxed() ? 0 : DFT_SYS(faccessat, dirfd, path, X_OK, 0, 0, 0);

    return result == 0 || (result == -ENOENT && !*path); /* "": AT_EMPTY_PATH; read when the kernel could */
}

/* Not by getenv, of which a program may have its own (bash does). */
static const char *search_path(void)
{
    for (char **at = environ; at && *at; at++)
        if (!strncmp(*at, "PATH=", 5))
            return *at + 5;
    return NULL;
}

/* Looks in PATH, as execvp does. */
static int find(const char *name, char found[DFT_EXECUTABLE_MAX])
{
    const char *directory = search_path();
    size_t length = strlen(name);

    while (directory && *directory) {
        size_t n = strcspn(directory, ":"), used = n ? n + 1 : 0; /* "": here */

        if (used + length >= DFT_EXECUTABLE_MAX)
            break;
        memcpy(found, directory, n);
        found[n] = '/';
        memcpy(found + used, name, length + 1);
        if (is_executable(AT_FDCWD, found))
            return 1;
        directory += n + (directory[n] == ':');
    }
    *found = 0;
    return directory == NULL || *directory;
}

int dft_executable_can_run(int dirfd, const char *path, char found[DFT_EXECUTABLE_MAX])
{
    *found = 0;
    if (dirfd != DFT_SEARCH_PATH)
        return is_executable(dirfd, path);
    if (dft_is_sandboxed())
        return 1;
    if (!strchr(path, '/'))
        return find(path, found);
    if (strlen(path) < DFT_EXECUTABLE_MAX)
        memcpy(found, path, strlen(path) + 1);
    return is_executable(AT_FDCWD, path);
}
