/* SPDX-License-Identifier: MIT */
/* Owns the question whether an exec is going to work, as far as access rights tell. */
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

int dft_executable_can_run(int dirfd, const char *path)
{
    const char *directory = dirfd == DFT_SEARCH_PATH && !strchr(path, '/') ? search_path() : NULL;
    char file[512];

    if (dirfd != DFT_SEARCH_PATH || strchr(path, '/'))
        return is_executable(dirfd == DFT_SEARCH_PATH ? AT_FDCWD : dirfd, path);
    while (directory && *directory) {
        size_t n = strcspn(directory, ":"), length = strlen(path);

        if (n + length + 2 > sizeof file)
            return 1;
        memcpy(file, directory, n);
        file[n] = '/';
        memcpy(file + n + 1, path, length + 1);
        if (is_executable(AT_FDCWD, n ? file : path))
            return 1;
        directory += n + (directory[n] == ':');
    }
    return directory == NULL;
}
