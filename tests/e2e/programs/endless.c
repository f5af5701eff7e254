/* SPDX-License-Identifier: MIT */
/* Threads that write until they are killed, and count what they did where it survives: for the test
 * that no event is lost.
 *
 * usage: endless COUNTS FILE THREADS COUNTS is a file of THREADS 64-bit numbers, mapped; each is
 * raised after a pwrite has returned. Says "ready" once all run. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static _Atomic uint64_t *counts;
static const char *path;

static void *work(void *argument)
{
    long number = (long)argument;
    int fd = open(path, O_WRONLY);

    if (fd < 0)
        _exit(1);
    for (uint64_t i = 0;; i++) {
        if (pwrite(fd, "0123456789", 10, (off_t)(i % 1000) * 10) != 10)
            _exit(1);
        atomic_fetch_add(&counts[number], 1);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int fd, threads;

    if (argc != 4)
        return 2;
    path = argv[2];
    threads = atoi(argv[3]);
    fd = open(argv[1], O_RDWR);
    counts = mmap(NULL, (size_t)threads * sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd < 0 || counts == MAP_FAILED)
        return 1;
    for (long i = 0; i < threads; i++) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, work, (void *)i) != 0)
            return 1;
    }
    for (int i = 0; i < threads; i++)
        while (atomic_load(&counts[i]) == 0)
            usleep(100);
    if (write(STDOUT_FILENO, "ready\n", 6) != 6)
        return 1;
    for (;;)
        pause();
}
