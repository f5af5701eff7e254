/* SPDX-License-Identifier: MIT */
/* A job of ranks, each a child that says its rank by DFTRACER_RANK, and writes rounds of records
 * into a file of its own.
 *   rank_writes DIR RANKS ROUNDS SLOW      SLOW: the rank that keeps SLOW_AT; -1: none */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define RECORDS 4
#define RECORD  4096

static int write_all(const char *directory, int rank, int rounds)
{
    static char bytes[RECORD];
    char path[4096];
    int fd;

    snprintf(path, sizeof path, "%s/out%d.dat", directory, rank);
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; fd >= 0 && i < rounds; i++) {
        for (int k = 0; k < RECORDS; k++)
            if (write(fd, bytes, sizeof bytes) != (ssize_t)sizeof bytes)
                return 1;
        if (lseek(fd, 0, SEEK_SET))
            return 1;
        usleep(1000);
    }
    return fd < 0 || close(fd) ? 1 : 0;
}

int main(int argc, char **argv)
{
    int status, failed = 0;

    if (argc == 4) /* a rank */
        return write_all(argv[1], atoi(argv[2]), atoi(argv[3]));
    if (argc != 5)
        return 2;
    for (int rank = 0; rank < atoi(argv[2]); rank++)
        if (!fork()) {
            char number[16];

            snprintf(number, sizeof number, "%d", rank);
            setenv("DFTRACER_RANK", number, 1);
            setenv("DFTRACER_WORLD_SIZE", argv[2], 1);
            if (rank != atoi(argv[4]))
                unsetenv("SLOW_AT");
            execl(argv[0], argv[0], argv[1], number, argv[3], NULL);
            _exit(127);
        }
    while (wait(&status) > 0)
        failed |= status;
    return failed != 0;
}
