/* SPDX-License-Identifier: MIT */
/* A rank that writes: FILE PIECES SIZE own|between|behind [FIRST].
 *
 * own: a file of its own, FILE.RANK. between: pieces of all ranks lie between each other. behind:
 * each rank's pieces follow those of the rank before. FIRST: rank 0 writes as many pieces of this
 * size before the others begin. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void write_pieces(int fd, const char *how, long pieces, long size, long rank, long ranks)
{
    char *piece = calloc(1, (size_t)size);

    for (long i = 0; i < pieces; i++) {
        long place = !strcmp(how, "own") ? i : !strcmp(how, "between") ? i * ranks + rank : rank * pieces + i;

        if (pwrite(fd, piece, (size_t)size, place * size) != size)
            exit(1);
    }
    free(piece);
}

int main(int argc, char **argv)
{
    long rank = atol(getenv("OMPI_COMM_WORLD_RANK")), ranks = atol(getenv("OMPI_COMM_WORLD_SIZE"));
    const char *how = argv[4];
    char path[4096], flag[4096];
    const struct timespec pause = {0, 1000000};
    int fd;

    snprintf(path, sizeof path, strcmp(how, "own") ? "%s" : "%s.%ld", argv[1], rank);
    snprintf(flag, sizeof flag, "%s.begin", argv[1]);
    fd = open(path, O_WRONLY | O_CREAT, 0644);
    if (fd < 0)
        return 1;
    if (argc > 5 && !rank) {
        write_pieces(fd, how, atol(argv[2]), atol(argv[5]), rank, ranks);
        close(open(flag, O_WRONLY | O_CREAT, 0644));
    }
    while (argc > 5 && access(flag, F_OK))
        nanosleep(&pause, NULL);
    write_pieces(fd, how, atol(argv[2]), atol(argv[3]), rank, ranks);
    return close(fd) != 0;
}
