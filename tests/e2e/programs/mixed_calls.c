/* SPDX-License-Identifier: MIT */
/* Calls of several kinds on several files, so many of each that each is known:
 *
 *     mixed_calls FOLDER COUNT
 *
 * COUNT preads of 64 bytes of FOLDER/a, as many writes of 100 bytes to FOLDER/b, as many stats of
 * FOLDER/none, which is not there, one fsync of FOLDER/b, and regions "step" and "pause". Prints
 * how many calls of each name it made. */
#include <dftrace/dftrace.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[3][4096];

int main(int argc, char **argv)
{
    static char bytes[4096];
    struct stat st;
    long count = argc > 2 ? atol(argv[2]) : 0, preads = 0, i;
    int a, b;

    for (i = 0; i < 3; i++)
        snprintf(path[i], sizeof path[i], "%s/%s", argv[1], i == 0 ? "a" : i == 1 ? "b" : "none");
    a = open(path[0], O_RDWR | O_CREAT, 0600);
    b = open(path[1], O_RDWR | O_CREAT, 0600);
    if (a < 0 || b < 0 || ftruncate(a, sizeof bytes) < 0)
        return 1;
    DFTRACE_BEGIN("pause");
    DFTRACE_END("pause");
    for (i = 0; i < count; i++) {
        DFTRACE_BEGIN("step");
        preads += pread(a, bytes, 64, i % 64 * 64) == 64;
        if (write(b, bytes, 100) != 100 || stat(path[2], &st) == 0)
            return 1;
        DFTRACE_END("step");
    }
    fsync(b);
    close(a);
    close(b);
    printf("{\"pread\": %ld, \"write\": %ld, \"stat\": %ld, \"step\": %ld, \"fsync\": 1, \"pause\": 1, \"open\": 2, "
           "\"close\": 2, \"ftruncate\": 1}\n",
           preads, count, count, count);
    return 0;
}
