/* SPDX-License-Identifier: MIT */
/* Takes descriptor numbers from whoever has them, by library calls and past them: thief DIRECTORY
 * HOW CALLS. HOW: close, dup2, close_range, closefrom (library), or rawclose, rawdup2, rawrange
 * (system calls that nobody sees), once in every 5000 calls; "storm": a thread that puts a file on
 * every number, past the library, all the time; "stormlib": the same through the library. Meanwhile
 * CALLS writes to DIRECTORY/work. DIRECTORY/victim is what comes onto the numbers: it must stay as
 * it is. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NUMBERS 1000 /* of the 1,024 that a process usually may have: else none is left for the trace */

static int victim, work_fd;
static volatile int over;

static void need(int is_true, const char *what)
{
    if (is_true)
        return;
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    _exit(99);
}

static long raw(long number, long a, long b, long c)
{
#if defined(__x86_64__)
    long result;

    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
#else
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;

    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
#endif
}

static int is_free(int fd)
{
    return fd != victim && fd != work_fd;
}

/* Somebody may just be opening a file on this number: the kernel says EBUSY then, to plain programs
 * with threads as well. */
static void put_past(int fd)
{
    long result = raw(SYS_dup3, victim, fd, 0);

    errno = result < 0 ? (int)-result : 0;
    need(result == fd || result == -EBUSY, "dup3");
}

static void each(int from, const char *how)
{
    for (int fd = from; fd < NUMBERS; fd++) {
        if (!is_free(fd))
            continue;
        if (!strcmp(how, "close"))
            close(fd);
        else if (!strcmp(how, "rawclose"))
            raw(SYS_close, fd, 0, 0);
        else if (!strcmp(how, "dup2") || !strcmp(how, "stormlib"))
            need(dup2(victim, fd) == fd, "dup2");
        else
            put_past(fd);
    }
}

static void take(const char *how)
{
    if (!strcmp(how, "close_range"))
        need(close_range(200, ~0U, 0) == 0, "close_range");
    else if (!strcmp(how, "rawrange"))
        need(raw(SYS_close_range, 200, ~0U, 0) == 0, "close_range");
    else if (!strcmp(how, "closefrom"))
        closefrom(200);
    else
        each(3, how);
}

static void *storm(void *how)
{
    while (!over)
        each(200, how);
    return NULL;
}

int main(int argc, char **argv)
{
    char path[4096];
    pthread_t thread;
    struct stat st;
    int calls, stormy;

    need(argc == 4, "arguments");
    calls = atoi(argv[3]);
    stormy = !strncmp(argv[2], "storm", 5);
    snprintf(path, sizeof path, "%s/victim", argv[1]);
    victim = open(path, O_RDWR | O_CREAT, 0644);
    snprintf(path, sizeof path, "%s/work", argv[1]);
    work_fd = open(path, O_RDWR | O_CREAT, 0644);
    need(victim >= 0 && work_fd >= 0, path);
    if (stormy)
        need(pthread_create(&thread, NULL, storm, argv[2]) == 0, "thread");
    for (int i = 0; i < calls; i++) {
        need(pwrite(work_fd, "x", 1, i % 100) == 1, "pwrite");
        if (!stormy && i % 5000 == 4999)
            take(argv[2]);
    }
    over = 1;
    if (stormy)
        pthread_join(thread, NULL);
    need(fstat(victim, &st) == 0, "fstat");
    printf("%lld bytes\n", (long long)st.st_size);
    return 0;
}
