/* SPDX-License-Identifier: MIT */
/* A program with annotations: regions around I/O, nested and in threads, arguments, instants,
 * counters, metadata.
 *
 * usage: annotated FILE ROUNDS */
#include <dftrace/dftrace.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *path;
static int rounds;

static void step(int i)
{
    char buffer[100];
    int fd;

    DFTRACE_REGION("step");
    DFTRACE_ARG_INT("step", i);
    DFTRACE_ARG_DOUBLE("loss", 1.0 / (i + 1));
    DFTRACE_ARG_STRING("note", "a \"quoted\" note");
    memset(buffer, 'x', sizeof(buffer));
    DFTRACE_BEGIN("save");
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (fd < 0 || write(fd, buffer, sizeof(buffer)) != (ssize_t)sizeof(buffer))
        exit(1);
    close(fd);
    DFTRACE_END("save");
    DFTRACE_COUNTER("queue_depth", i);
    DFTRACE_INSTANT("stepped");
}

static void *work(void *unused)
{
    (void)unused;
    DFTRACE_THREAD_NAME("worker");
    for (int i = 0; i < rounds; i++)
        step(i);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    if (argc != 3)
        return 2;
    path = argv[1];
    rounds = atoi(argv[2]);
    DFTRACE_METADATA("model", "tiny");
    DFTRACE_BEGIN_CAT("phases", "all");
    if (pthread_create(&thread, NULL, work, NULL) != 0)
        return 1;
    for (int i = 0; i < rounds; i++)
        step(i);
    pthread_join(thread, NULL);
    DFTRACE_END_CAT("phases", "all");
    return 0;
}
