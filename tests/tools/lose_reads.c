/* SPDX-License-Identifier: MIT */
/* Preloaded: a file that becomes shorter while it is read. LOSE_FILE is the end of its name,
 * LOSE_FROM where pread finds its end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_lost(int fd, off_t offset)
{
    const char *end = getenv("LOSE_FILE"), *from = getenv("LOSE_FROM");
    char link[64], path[4096];
    ssize_t length;

    if (!end || !from || offset < strtol(from, NULL, 10))
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, path, sizeof path);
    return length >= (ssize_t)strlen(end) && !memcmp(path + length - strlen(end), end, strlen(end));
}

__attribute__((visibility("default"))) ssize_t pread(int fd, void *bytes, size_t length, off_t offset)
{
    return is_lost(fd, offset) ? 0 : syscall(SYS_pread64, fd, bytes, length, offset);
}

ssize_t pread64(int fd, void *bytes, size_t length, off_t offset)
    __attribute__((alias("pread"), visibility("default")));
