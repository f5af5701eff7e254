/* SPDX-License-Identifier: MIT */
/* Asks for functions that old C libraries lack, by dlsym, as programs do that have a way of their own without
 * them. Prints the names of those that are there and do not work. */
#include "old.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/uio.h>

static int wrong;

static void judge(const char *name, long answer, long expected)
{
    if (answer == expected)
        return;
    printf("%s: %ld\n", name, answer);
    wrong = 1;
}

#define ASK(name, type, prototype, arguments, expected)                                                                \
    do {                                                                                                               \
        type(*function) prototype;                                                                                     \
                                                                                                                       \
        *(void **)&function = dlsym(RTLD_DEFAULT, #name);                                                              \
        if (function)                                                                                                  \
            judge(#name, function arguments, expected);                                                                \
    } while (0)

int main(void)
{
    static char bytes[4096];
    struct iovec iov = {bytes, 4};
    struct stat status = {.st_size = 4};
    int file = open("newer", O_RDWR | O_CREAT | O_TRUNC, 0600), folder = open(".", O_RDONLY);

    judge("write", write(file, "abcd", 4), 4);
    ASK(stat, int, (const char *, struct stat *), ("newer", &status), 0);
    ASK(lstat, int, (const char *, struct stat *), ("newer", &status), 0);
    ASK(fstat, int, (int, struct stat *), (file, &status), 0);
    judge("size", status.st_size, 4);
    ASK(fstatat, int, (int, const char *, struct stat *, int), (AT_FDCWD, "newer", &status, 0), 0);
    ASK(statx, int, (int, const char *, int, unsigned, void *), (AT_FDCWD, "newer", 0, 0x7ff, bytes), 0);
    ASK(preadv2, ssize_t, (int, const struct iovec *, int, off_t, int), (file, &iov, 1, 1, 0), 3);
    ASK(pwritev2, ssize_t, (int, const struct iovec *, int, off_t, int), (file, &iov, 1, 4, 0), 4);
    ASK(renameat2, int, (int, const char *, int, const char *, unsigned), (AT_FDCWD, "newer", AT_FDCWD, "renamed", 0),
        0);
    ASK(mknod, int, (const char *, mode_t, dev_t), ("fifo", S_IFIFO | 0600, 0), 0);
    ASK(getdents64, ssize_t, (int, void *, size_t), (folder, bytes, 0), -1);
    ASK(close_range, int, (unsigned, unsigned, int), (folder, folder, 0), 0);
    close(folder);
    ASK(memfd_create, int, (const char *, unsigned), ("again", 0), folder); /* the lowest free number */
    return wrong;
}
