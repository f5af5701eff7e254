/* SPDX-License-Identifier: MIT */
/* Opens one file by a way of naming it, reads it, and asks about it: directories WAY DIRECTORY NAME. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fail(const char *what)
{
    perror(what);
    return 1;
}

int main(int argc, char **argv)
{
    const char *way = argv[1], *directory = argv[2], *name = argv[3];
    int at = AT_FDCWD, fd;
    char path[4096], byte;
    struct stat st;

    if (argc != 4)
        return 2;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (!strcmp(way, "cwd") || !strcmp(way, "unlinked") || !strcmp(way, "renamed") || !strcmp(way, "proc")) {
        if (chdir(directory))
            return fail("chdir");
        strcpy(path, name);
    }
    if (!strcmp(way, "unlinked") && syscall(SYS_unlinkat, AT_FDCWD, directory, AT_REMOVEDIR))
        return fail("rmdir");
    if (!strcmp(way, "renamed") && syscall(SYS_renameat, AT_FDCWD, directory, AT_FDCWD, "../away"))
        return fail("rename");
    if (!strcmp(way, "proc"))
        snprintf(path, sizeof path, "/proc/self/cwd/%s", name);
    if (!strcmp(way, "dirfd")) {
        at = open(directory, O_RDONLY | O_DIRECTORY);
        strcpy(path, name);
    }
    fd = openat(at, path, O_RDONLY);
    if (fd < 0 || read(fd, &byte, 1) != 1 || fstatat(at, path, &st, 0))
        return fail(path);
    close(fd);
    return 0;
}
