/* SPDX-License-Identifier: MIT */
/* A thread with a table of descriptors of its own: the same number is another file to it and to its children.
 * own_files HOW; writes files in the working directory. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 20

static pthread_barrier_t both;
static int number;
static const char *how;

static void meet(void)
{
    pthread_barrier_wait(&both);
}

static void put(int fd, int times, const char *text)
{
    for (int i = 0; i < times; i++)
        if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
            exit(2);
}

static int part(void)
{
    if (!strcmp(how, "unshare"))
        return unshare(CLONE_FILES);
    if (!strcmp(how, "syscall"))
        return (int)syscall(SYS_unshare, CLONE_FILES);
    return (int)syscall(SYS_close_range, number, number, 2 /* CLOSE_RANGE_UNSHARE */);
}

static void *by_a_friend(void *unused)
{
    int fd = open("friend", O_WRONLY | O_CREAT, 0644);

    put(fd, ROUNDS, "f");
    put(number, ROUNDS, "o");
    close(fd);
    return unused;
}

static void *work(void *unused)
{
    pthread_t friend;
    FILE *stream;
    int fd, status;

    meet();
    if (part())
        exit(77);
    if (strcmp(how, "close_range"))
        close(number);
    if (open("own", O_RDWR | O_CREAT, 0644) != number)
        exit(3);
    put(number, ROUNDS, "own");
    meet(); /* the others write to theirs */
    meet();
    put(number, ROUNDS, "own");
    if (!fork()) {
        put(number, ROUNDS, "child");
        fd = open("of-child", O_WRONLY | O_CREAT, 0644);
        put(fd, ROUNDS, "c");
        _exit(0);
    }
    if (wait(&status) < 0 || status)
        exit(4);
    if (!vfork()) {
        if (write(number, "vfork", 5) != 5)
            _exit(1);
        _exit(0);
    }
    if (wait(&status) < 0 || status)
        exit(5);
    if (pthread_create(&friend, NULL, by_a_friend, NULL) || pthread_join(friend, NULL))
        exit(6);
    stream = fopen("stream", "w");
    for (int i = 0; i < ROUNDS; i++)
        fputs("line\n", stream);
    fclose(stream);
    fd = dup2(number, number + 100);
    put(fd, ROUNDS, "dup");
    close(fd);
    close(number);
    meet();
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    how = argc > 1 ? argv[1] : "";
    pthread_barrier_init(&both, NULL, 2);
    number = open("main", O_WRONLY | O_CREAT, 0644);
    put(number, ROUNDS, "m");
    if (pthread_create(&thread, NULL, work, NULL))
        return 1;
    meet();
    meet();
    put(number, ROUNDS, "m");
    meet();
    meet();
    put(number, ROUNDS, "m");
    close(number);
    pthread_join(thread, NULL);
    return 3;
}
