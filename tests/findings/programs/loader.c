/* SPDX-License-Identifier: MIT */
/* A trainer with loader workers, as PyTorch has them: workers load items and send a byte for each; the
 * trainer waits for the next one in order, and computes.
 *
 *     loader DIR WORKERS ITEMS COMPUTE_US LOAD_US SLOW_US READS [quiet|late]
 *
 * LOAD_US is what a worker computes for an item, SLOW_US the same of the last worker. READS: so many
 * times is the item's file read; where LOAD_US is 0 the last worker reads it SLOW_US times more, as a
 * whole. quiet: no region says that the trainer waits. late: workers begin LATE_US after their start.
 * DIR has item_0000.npy and so on. */
#include <dftrace/dftrace.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORKERS_MAX 16
#define EPOCHS      2
#define ITEM_BYTES  (48 << 10)
#define LATE_US     400000
#define PIECES      16 /* calls for one item, as numpy reads a .npy */

static char buffer[4 << 20];

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void spin(int us)
{
    double end = now() + us;

    while (now() < end)
        ;
}

static void path_of(char *path, const char *dir, int item)
{
    snprintf(path, 4096, "%s/item_%04d.npy", dir, item);
}

static void read_item(const char *dir, int item, int pieces)
{
    char path[4096];
    int fd;

    path_of(path, dir, item);
    fd = open(path, O_RDONLY);
    for (int i = 0; i < pieces; i++)
        if (read(fd, buffer, pieces > 1 ? (size_t)(ITEM_BYTES / pieces) : sizeof buffer) < 0)
            exit(1);
    close(fd);
}

static void work(const char *dir, int to, int first, int step, int items, int us, int reads, int pieces)
{
    for (int i = first; i < items; i += step) {
        DFTRACE_BEGIN("__getitem__");
        for (int k = 0; k < reads; k++)
            read_item(dir, i, pieces);
        spin(us);
        DFTRACE_END("__getitem__");
        if (write(to, "", 1) != 1)
            _exit(1);
    }
    _exit(0);
}

static void train(const char *dir, char **argv, int workers, int items, const char *word)
{
    int pipes[WORKERS_MAX][2];

    for (int w = 0; w < workers; w++) {
        if (pipe(pipes[w]))
            exit(1);
        if (!fork()) {
            char role[32];

            snprintf(role, sizeof role, "worker %d", w);
            dftrace_set_role(role);
            int is_slow = w + 1 == workers, reads = atoi(argv[7]), us = atoi(argv[is_slow ? 6 : 5]);

            if (!strcmp(word, "late"))
                usleep(LATE_US);
            if (is_slow && !atoi(argv[5]))
                work(dir, pipes[w][1], w, workers, items, 0, reads * (us + 1), 1);
            work(dir, pipes[w][1], w, workers, items, us, reads, PIECES);
        }
        close(pipes[w][1]);
    }
    for (int i = 0; i < items; i++) {
        char byte;

        DFTRACE_BEGIN("step");
        DFTRACE_ARG_INT("step", i);
        if (strcmp(word, "quiet"))
            DFTRACE_BEGIN("wait for data");
        if (read(pipes[i % workers][0], &byte, 1) != 1)
            exit(1);
        if (strcmp(word, "quiet"))
            DFTRACE_END("wait for data");
        DFTRACE_BEGIN_CAT("COMPUTE", "forward and backward");
        spin(atoi(argv[4]));
        DFTRACE_END_CAT("COMPUTE", "forward and backward");
        DFTRACE_END("step");
    }
    for (int w = 0; w < workers; w++) {
        close(pipes[w][0]);
        wait(NULL);
    }
}

int main(int argc, char **argv)
{
    if (argc < 8 || atoi(argv[2]) < 1 || atoi(argv[2]) > WORKERS_MAX)
        return 2;
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        DFTRACE_BEGIN("epoch");
        DFTRACE_ARG_INT("epoch", epoch);
        train(argv[1], argv, atoi(argv[2]), atoi(argv[3]), argc > 8 ? argv[8] : "");
        DFTRACE_END("epoch");
    }
    return 0;
}
