/* SPDX-License-Identifier: MIT */
/* Threads begin, call and end, so the library writes and enlarges its files; meanwhile the program forks: strays
 * FILE FORKS. Each child's next descriptor must be the lowest that the program has not opened. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4

static volatile int over;
static int file;

static void *read_file(void *unused)
{
    char byte;

    for (int i = 0; i < 20000 && !over; i++)
        if (pread(file, &byte, 1, 0) < 0)
            _exit(99);
    return unused;
}

static void *make_threads(void *unused)
{
    pthread_t threads[THREADS];

    while (!over) {
        for (int i = 0; i < THREADS; i++)
            if (pthread_create(&threads[i], NULL, read_file, NULL))
                _exit(98);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    return unused;
}

int main(int argc, char **argv)
{
    int forks = argc == 3 ? atoi(argv[2]) : 0, shifted = 0, status;
    pthread_t maker;

    file = forks ? open(argv[1], O_RDWR | O_CREAT, 0644) : -1;
    if (file < 0 || pthread_create(&maker, NULL, make_threads, NULL))
        return 97;
    for (int i = 0; i < forks; i++) {
        pid_t child = fork();

        if (!child)
            _exit(dup(file) != file + 1);
        if (child < 0 || waitpid(child, &status, 0) < 0)
            return 96;
        shifted += status != 0;
    }
    over = 1;
    pthread_join(maker, NULL);
    fprintf(stderr, "%d children with a descriptor that is not theirs\n", shifted);
    return 0;
}
