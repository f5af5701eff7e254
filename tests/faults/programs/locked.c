/* SPDX-License-Identifier: MIT */
/* Locks its memory while it may lock 8 MiB, before or after its first call.
 *
 * usage: locked FILE CALLS_BEFORE CALLS_AFTER */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static void calls(const char *name, int count)
{
    char byte;
    int fd = count ? open(name, O_RDONLY) : -1;

    for (int i = 0; i < count; i++)
        if (pread(fd, &byte, 1, 0) != 1)
            exit(3);
}

int main(int argc, char **argv)
{
    const struct rlimit limit = {8 << 20, 8 << 20};

    if (argc < 4 || setrlimit(RLIMIT_MEMLOCK, &limit) || (geteuid() == 0 && setresuid(65534, 65534, 65534)))
        return 2;
    calls(argv[1], atoi(argv[2]));
    printf("%d\n", mlockall(MCL_CURRENT | MCL_FUTURE));
    calls(argv[1], atoi(argv[3]));
    return 0;
}
