/* SPDX-License-Identifier: MIT */
/* Does what IOR does with one shared file, for real.py: each process writes its own segment of the
 * file block by block, and then reads the segment back.
 *
 *   bench_segments PROCESSES BLOCKS BYTES FILE      BYTES: size of a block */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void bench_die(const char *what)
{
    perror(what);
    exit(1);
}

static void bench_transfer(const char *path, off_t at, long blocks, size_t bytes)
{
    char *block = malloc(bytes);
    int fd = open(path, O_RDWR | O_CREAT, 0644);

    if (!block || fd < 0)
        bench_die(path);
    memset(block, 'x', bytes);
    for (long i = 0; i < blocks; i++)
        if (pwrite(fd, block, bytes, at + i * (off_t)bytes) != (ssize_t)bytes)
            bench_die("pwrite");
    for (long i = 0; i < blocks; i++)
        if (pread(fd, block, bytes, at + i * (off_t)bytes) != (ssize_t)bytes)
            bench_die("pread");
    close(fd);
    free(block);
}

int main(int argc, char **argv)
{
    long processes = argc == 5 ? atol(argv[1]) : 0, blocks = argc == 5 ? atol(argv[2]) : 0;
    size_t bytes = argc == 5 ? strtoul(argv[3], NULL, 10) : 0;
    int wrong = 0, status;

    if (processes < 1 || blocks < 1 || !bytes) {
        fprintf(stderr, "usage: bench_segments PROCESSES BLOCKS BYTES FILE\n");
        return 2;
    }
    for (long i = 0; i < processes; i++) {
        pid_t pid = fork();

        if (pid < 0)
            bench_die("fork");
        if (pid == 0) {
            bench_transfer(argv[4], i * blocks * (off_t)bytes, blocks, bytes);
            return 0;
        }
    }
    while (wait(&status) > 0)
        wrong |= status != 0;
    return wrong;
}
