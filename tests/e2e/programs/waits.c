/* SPDX-License-Identifier: MIT */
/* Reads its file once, and then waits in a call that does not end: `waits open|read|flock|fcntl FILE`. The FILE of
 * "open" and "read" is a FIFO, and that of the others is locked. */
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int fd = open(argv[0], O_RDONLY);
    char byte;

    if (argc != 3 || read(fd, &byte, 1) != 1)
        return 1;
    if (!strcmp(argv[1], "open"))
        fd = open(argv[2], O_RDONLY);
    else if (!strcmp(argv[1], "flock"))
        fd = flock(open(argv[2], O_RDWR), LOCK_EX);
    else if (!strcmp(argv[1], "fcntl"))
        fd = fcntl(open(argv[2], O_RDWR), F_SETLKW, &(struct flock){.l_type = F_WRLCK});
    else
        fd = (int)read(open(argv[2], O_RDWR), &byte, 1);
    return fd < 0;
}
