/* SPDX-License-Identifier: MIT */
/* Files, threads and a child, and on demand one fault, for the sanitizers. */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int shared;
static volatile int four = 4, most = INT_MAX;

static void *work(void *argument)
{
    char name[16];
    FILE *file;

    snprintf(name, sizeof name, "f%ld", (long)argument);
    file = fopen(name, "w+");
    for (int i = 0; i < 1000; i++)
        fprintf(file, "%d\n", i);
    rewind(file);
    while (fgets(name, sizeof name, file))
        continue;
    fclose(file);
    return NULL;
}

static void *race(void *argument)
{
    for (int i = 0; i < 1000; i++)
        shared++;
    return argument;
}

static void run_two(void *(*what)(void *))
{
    pthread_t threads[2];

    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, what, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static void fault(const char *which)
{
    char *block = malloc(4);

    if (!strcmp(which, "heap"))
        block[four] = 'x';
    if (!strcmp(which, "overflow"))
        printf("%d\n", most + four);
    if (!strcmp(which, "race"))
        run_two(race);
    if (!strcmp(which, "uninitialised") && block[1] == 'x')
        puts("x");
    if (!strcmp(which, "leak"))
        block = NULL;
    free(block);
}

int main(int argc, char **argv)
{
    char bytes[100] = "";
    int fd = open("file", O_RDWR | O_CREAT, 0644), status = 0;

    for (int i = 0; i < 500; i++)
        if (write(fd, bytes, sizeof bytes) != sizeof bytes || pread(fd, bytes, 10, 0) != 10)
            return 90;
    close(fd);
    run_two(work);
    if (fork() == 0) {
        work((void *)9L);
        return 0;
    }
    wait(&status);
    printf("child %d\n", status);
    fflush(stdout);
    fault(argc > 1 ? argv[1] : "");
    return 0;
}
