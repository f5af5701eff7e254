/* SPDX-License-Identifier: MIT */
/* Reads the mappings of a process in /proc. */
#include "live/shared_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

int dft_shared_files_visit(uint32_t pid, int (*found)(void *context, uint64_t device, uint64_t inode, const char *path),
                           void *context)
{
    char name[64], mode[8], *line = NULL;
    unsigned long long inode;
    unsigned major, minor;
    size_t capacity = 0;
    FILE *file;
    int rc = 0;

    snprintf(name, sizeof name, "/proc/%u/maps", pid);
    file = fopen(name, "re");
    if (!file)
        return -errno;
    errno = 0;
    while (!rc && getline(&line, &capacity, file) > 0) {
        int path = 0;

        line[strcspn(line, "\n")] = 0;
        if (sscanf(line, "%*x-%*x %7s %*x %x:%x %llu %n", mode, &major, &minor, &inode, &path) == 4 && mode[1] == 'w' &&
            mode[3] == 's' && inode && path)
            rc = found(context, makedev(major, minor), inode, line + path);
    }
    if (!rc && ferror(file))
        rc = -errno;
    free(line);
    fclose(file);
    return rc;
}
