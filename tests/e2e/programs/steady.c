/* SPDX-License-Identifier: MIT */
/* A program at rest: does what it is told to by lines of its standard input, and answers each with a
 * line. "r N": N reads of 100 bytes; "w N": N writes of 10 bytes; "m N": N failing stats; "b N": N ms of
 * processor time; "h": reads from the FIFO that is its second argument; "e": ends; "x": is killed. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void work(char what, long count, int fd)
{
    char bytes[100] = {0};
    struct stat st;

    for (long i = 0; i < count; i++)
        if (what == 'r'   ? pread(fd, bytes, 100, 0) != 100
            : what == 'w' ? pwrite(fd, bytes, 10, i % 7) != 10
                          : !stat("/no/such", &st))
            abort();
}

static void burn(long ms)
{
    const clock_t end = clock() + ms * (CLOCKS_PER_SEC / 1000);

    while (clock() < end)
        ;
}

int main(int argc, char **argv)
{
    int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
    char line[64];
    size_t at = 0;

    if (fd < 0 || pwrite(fd, "x", 1, 99) != 1)
        return 1;
    for (;;) {
        char what;
        long count = 0;

        for (at = 0; at < sizeof line - 1 && read(0, &line[at], 1) == 1 && line[at] != '\n'; at++)
            ;
        line[at] = 0;
        if (sscanf(line, "%c %ld", &what, &count) < 1 || what == 'e')
            return 0;
        if (what == 'x')
            raise(SIGKILL);
        if (what == 'h' && (argc < 3 || read(open(argv[2], O_RDONLY), line, 1) < 0))
            return 1;
        if (what == 'b')
            burn(count);
        else
            work(what, count, fd);
        if (write(1, ".", 1) != 1)
            return 1;
    }
}
