/* SPDX-License-Identifier: MIT */
/* Writes checkpoints and reads them back: what two runs of it differ in is said by arguments.
 *   checkpoints DIR FILES BYTES [sync] [noread] [stat] */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WRITES 20

static int has(int argc, char **argv, const char *word)
{
    for (int i = 4; i < argc; i++)
        if (!strcmp(argv[i], word))
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    size_t bytes = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
    char *buffer = calloc(1, bytes + 1), path[4096];
    struct stat st;

    if (argc < 4 || !buffer)
        return 2;
    for (int i = 0; i < atoi(argv[2]); i++) {
        int fd;

        snprintf(path, sizeof path, "%s/ckpt-%04d.bin", argv[1], i);
        fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
        if (fd < 0)
            return 1;
        for (int w = 0; w < WRITES; w++)
            if (pwrite(fd, buffer, bytes, 0) != (ssize_t)bytes)
                return 1;
        if (has(argc, argv, "sync") && fsync(fd))
            return 1;
        if (!has(argc, argv, "noread") && pread(fd, buffer, bytes, 0) != (ssize_t)bytes)
            return 1;
        if (close(fd) || (has(argc, argv, "stat") && stat(path, &st)))
            return 1;
    }
    return 0;
}
