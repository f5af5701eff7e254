/* SPDX-License-Identifier: MIT */
/* A library that is loaded and unloaded: it does I/O when it comes, when it goes, from a thread of
 * its own and from its thread-local memory. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static __thread int calls;
static FILE *log_file;

static int add(const char *text)
{
    int fd = open("plugin.log", O_WRONLY | O_CREAT | O_APPEND, 0644);
    int n = 0;

    while (text[n])
        n++;
    n = (int)write(fd, text, n);
    close(fd);
    return n;
}

__attribute__((constructor)) static void come(void)
{
    add("come\n");
    log_file = fopen("plugin.stream", "a");
}

__attribute__((destructor)) static void go(void)
{
    fputs("gone\n", log_file);
    fclose(log_file);
    add("go\n");
}

static void *work(void *argument)
{
    add("thread\n");
    return argument;
}

int plugin_run(int how_often)
{
    pthread_t thread;

    for (int i = 0; i < how_often; i++)
        calls += add("run\n");
    if (pthread_create(&thread, NULL, work, NULL) == 0)
        pthread_join(thread, NULL);
    return calls;
}
