/* SPDX-License-Identifier: MIT */
/* A program of a stranger: one annotated region around a little I/O. */
#include <dftrace/dftrace.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int fd;

    if (argc != 2)
        return 2;
    DFTRACE_BEGIN("installed");
    fd = open(argv[1], O_CREAT | O_RDWR | O_TRUNC, 0600);
    if (fd < 0 || write(fd, "hello", 5) != 5 || close(fd))
        return 1;
    DFTRACE_END("installed");
    puts("done");
    return 0;
}
