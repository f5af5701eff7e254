/* SPDX-License-Identifier: MIT */
/* Much of one thing, then what memory it takes, in KiB: much WHAT N DIRECTORY.
 *
 *   series    N threads one after another, each with a write
 *   crowd     N threads at once, each with a write; they end; then N more
 *   busy      N threads at once with 10,000 writes each
 *   files     N names, looked for (what comes out does not depend on where they are)
 *   arguments annotations with texts of 0, 1, 100, ... bytes; then N is the signal that ends it, 0 none
 */
#include <dftrace/dftrace.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fd, writes = 1;
static sem_t arrived, leave;

static void need(int is_true, const char *what)
{
    if (is_true)
        return;
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    _exit(99);
}

static void say_memory(const char *when)
{
    char line[256];
    long size = 0, rss = 0;
    FILE *file = fopen("/proc/self/status", "r");

    need(file != NULL, "status");
    while (fgets(line, sizeof line, file)) {
        sscanf(line, "VmSize: %ld", &size);
        sscanf(line, "VmRSS: %ld", &rss);
    }
    fclose(file);
    printf("%s %ld %ld\n", when, size, rss);
}

static void *write_some(void *argument)
{
    for (int i = 0; i < writes; i++)
        need(pwrite(fd, "x", 1, (long)argument % 1000) == 1, "pwrite");
    return NULL;
}

static void *meet(void *argument)
{
    write_some(argument);
    sem_post(&arrived);
    while (sem_wait(&leave))
        ;
    return NULL;
}

static void start(pthread_t *thread, void *(*function)(void *), long number)
{
    pthread_attr_t attr;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 64 << 10);
    errno = pthread_create(thread, &attr, function, (void *)number);
    need(!errno, "pthread_create");
}

static void series(long n)
{
    pthread_t thread;

    for (long i = 0; i < n; i++) {
        start(&thread, write_some, i);
        need(!pthread_join(thread, NULL), "join");
        if (i == n / 10)
            say_memory("tenth");
    }
}

static void crowd(long n)
{
    pthread_t *threads = calloc((size_t)n, sizeof *threads);

    need(threads != NULL, "memory");
    for (long i = 0; i < n; i++)
        start(&threads[i], meet, i);
    for (long i = 0; i < n; i++)
        while (sem_wait(&arrived))
            ;
    say_memory("most");
    for (long i = 0; i < n; i++)
        sem_post(&leave);
    for (long i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    free(threads);
}

static void files(long n, const char *directory)
{
    char path[4096];

    for (long i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/name%ld", directory, i);
        need(access(path, F_OK) < 0 && errno == ENOENT, path);
        if (i == n / 10)
            say_memory("tenth");
    }
}

static void arguments(int end)
{
    static const size_t lengths[] = {0, 1, 100, 500, 1000, 1024, 4096, 100000, 10000000};
    char *text = malloc(10000001);

    need(text != NULL, "memory");
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        memset(text, 'a', lengths[i]);
        text[lengths[i]] = 0;
        DFTRACE_BEGIN("long argument");
        DFTRACE_ARG_STRING("text", text);
        DFTRACE_END("long argument");
    }
    text[1000] = 0;
    DFTRACE_METADATA("fits", text);
    text[1000] = 'a';
    text[4097] = 0;
    DFTRACE_METADATA("does not fit", text);
    DFTRACE_BEGIN("outer");
    DFTRACE_ARG_STRING("text", text);
    DFTRACE_BEGIN("inner");
    DFTRACE_END("inner");
    DFTRACE_END("outer");
    free(text);
    if (end)
        raise(end);
}

int main(int argc, char **argv)
{
    long n;

    need(argc == 4, "arguments");
    n = atol(argv[2]);
    fd = open(argv[3], O_RDONLY | O_DIRECTORY);
    need(fd >= 0, argv[3]);
    close(fd);
    need(!chdir(argv[3]), argv[3]);
    fd = open("file", O_RDWR | O_CREAT, 0644);
    sem_init(&arrived, 0, 0);
    sem_init(&leave, 0, 0);
    say_memory("first");
    if (!strcmp(argv[1], "series")) {
        series(n);
    } else if (!strcmp(argv[1], "crowd") || !strcmp(argv[1], "busy")) {
        writes = argv[1][0] == 'b' ? 10000 : 1;
        crowd(n);
        say_memory("between");
        crowd(n);
    } else if (!strcmp(argv[1], "files")) {
        files(n, argv[3]);
    } else if (!strcmp(argv[1], "arguments")) {
        arguments((int)n);
    } else {
        need(0, argv[1]);
    }
    say_memory("last");
    return 0;
}
