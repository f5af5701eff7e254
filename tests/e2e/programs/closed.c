/* SPDX-License-Identifier: MIT */
/* Calls on numbers that are not open, beside some that are.
 *
 * usage: closed */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static void calls_on(int fd)
{
    char bytes[4] = "";
    struct iovec part = {bytes, sizeof bytes};
    struct stat st;

    printf("%zd %zd %zd %zd %zd %zd", read(fd, bytes, 4), write(fd, bytes, 4), pread(fd, bytes, 4, 9),
           pwrite(fd, bytes, 4, 9), readv(fd, &part, 1), writev(fd, &part, 1));
    printf(" %d %d %d %d %d %ld", fstat(fd, &st), fsync(fd), fdatasync(fd), ftruncate(fd, 0), fchmod(fd, 0600),
           (long)lseek(fd, 0, SEEK_SET));
    printf(" %d %d %d %d %d %d\n", dup(fd), dup2(fd, 500), fcntl(fd, F_GETFL), fchdir(fd), openat(fd, "x", O_RDONLY),
           unlinkat(fd, "x", 0));
}

int main(void)
{
    int fd = open("file", O_RDWR | O_CREAT, 0644), copy = dup(fd);

    for (int number = 10; number < 100; number++)
        close(number);
    calls_on(77);
    calls_on(5000);
    close(copy);
    calls_on(copy);
    return write(fd, "text", 4) != 4;
}
