/* SPDX-License-Identifier: MIT */
/* Reads a file, says "ready", waits for a line, and goes on in a way that its arguments name:
 *
 *   trusting threads|fork|exec|again|environment|drop|aside FILE
 *
 * With many threads at once, so that the live file grows; in a child; in another program. `environment`
 * prints its DFTRACER_ variables, and then those of a program that it runs with equal user ids. `drop` goes
 * on as user 65534. `aside` puts the rights of root aside first, and does all in a child. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 30

extern char **environ;
static pthread_barrier_t all;

static void read_often(const char *path)
{
    char bytes[8];
    int fd = open(path, O_RDONLY);

    for (int i = 0; i < 300; i++)
        if (pread(fd, bytes, sizeof bytes, i) < 0)
            abort();
    close(fd);
}

static void *read_in_thread(void *path)
{
    pthread_barrier_wait(&all);
    read_often(path);
    pthread_barrier_wait(&all);
    return NULL;
}

static void read_in_threads(char *path)
{
    pthread_t threads[THREADS];

    pthread_barrier_init(&all, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, read_in_thread, path);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static int print_environment(void)
{
    for (char **e = environ; *e; e++)
        if (!strncmp(*e, "DFTRACER_", 9))
            puts(*e);
    fflush(stdout);
    if (setreuid(geteuid(), geteuid()) || setregid(getegid(), getegid()))
        return 1;
    execlp("env", "env", (char *)NULL);
    return 1;
}

int main(int argc, char **argv)
{
    int status = 0;

    if (argc != 3)
        return 2;
    if (!strcmp(argv[1], "aside")) {
        if (seteuid(65534))
            return 1;
        if (fork()) {
            wait(&status);
            return status != 0;
        }
    }
    read_often(argv[2]);
    if (!strcmp(argv[1], "environment"))
        return print_environment();
    if (strcmp(argv[1], "again")) {
        puts("ready");
        fflush(stdout);
        getchar();
    }
    if (!strcmp(argv[1], "exec")) {
        execl("/proc/self/exe", argv[0], "again", argv[2], (char *)NULL);
        return 1;
    }
    if (!strcmp(argv[1], "drop") && setuid(65534))
        return 1;
    if (!strcmp(argv[1], "fork") || !strcmp(argv[1], "drop")) {
        if (!fork()) {
            read_in_threads(argv[2]);
            exit(0);
        }
        wait(&status);
    }
    read_in_threads(argv[2]);
    puts("done");
    return status != 0;
}
