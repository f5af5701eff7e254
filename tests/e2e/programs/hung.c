/* SPDX-License-Identifier: MIT */
/* A program that hangs, for `dftmerge ps --stacks`: its threads wait for a byte each from the FIFO
 * "fifo". */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dftrace/dftrace.h>

static volatile long sink;

__attribute__((noinline)) static void wait_for_parent(void)
{
    int fd = open("fifo", O_RDWR);
    char byte;

    sink = read(fd, &byte, 1);
    sink++;
}

__attribute__((noinline)) static void first_of_main(void)
{
    wait_for_parent();
    sink++;
}

__attribute__((noinline)) static void *first_of_thread(void *unused)
{
    wait_for_parent();
    return unused;
}

/* Threads that wait at the end of two different stacks, the main one in a region. */
static void wait_in_threads(int threads)
{
    pthread_t *all = calloc((size_t)threads, sizeof *all);
    pthread_attr_t small;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (int i = 0; i < threads; i++)
        if (pthread_create(&all[i], &small, first_of_thread, NULL))
            exit(2);
    DFTRACE_BEGIN("region_of_main");
    first_of_main();
    DFTRACE_END("region_of_main");
    for (int i = 0; i < threads; i++)
        pthread_join(all[i], NULL);
}

/* The parent cannot be interrupted until its child has ended. */
static void wait_for_vfork(void)
{
    if (!vfork()) {
        wait_for_parent();
        _exit(0);
    }
}

int main(int argc, char **argv)
{
    close(open("fifo", O_RDWR));
    if (argc == 3)
        wait_in_threads(atoi(argv[2]));
    else if (argc == 2 && !strcmp(argv[1], "vfork"))
        wait_for_vfork();
    return 7;
}
