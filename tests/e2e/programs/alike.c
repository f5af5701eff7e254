/* SPDX-License-Identifier: MIT */
/* In turn, calls that differ in one facet alone: reads that fail, of one byte and of many; reads with
 * an offset, and without. Works in the current directory. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define TIMES 40

int main(void)
{
    static char bytes[70000];
    int fd = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600), unread = open("data", O_WRONLY), fifo;

    if (fd < 0 || unread < 0 || mkfifo("fifo", 0600) || (fifo = open("fifo", O_RDWR)) < 0)
        return 1;
    if (write(fd, bytes, sizeof bytes) < 0)
        return 2;
    for (int i = 0; i < TIMES; i++) {
        if (read(unread, bytes, i % 2 ? 1 : 65536) >= 0)
            return 3;
        if (write(fifo, bytes, 8) != 8 || read(fifo, bytes, 8) != 8)
            return 4;
        if (lseek(fd, i * 7919 * 13 % 60000, SEEK_SET) < 0 || read(fd, bytes, 8) != 8)
            return 5;
    }
    return 0;
}
