/* SPDX-License-Identifier: MIT */
/* Cases about how processes end: with calls in destructors, from handlers, with other threads still
 * writing, killed. */
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 8

/* In the file "counters", which the test reads when the process is dead. */
struct counters {
    _Atomic uint64_t started[THREADS], returned[THREADS];
};

static struct counters *counters;
static int fds[THREADS];

static int make_file(const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT, 0644);

    guest_need(fd >= 0, name);
    return fd;
}

static void make_counters(void)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "counters", O_RDWR | O_CREAT, 0644);

    guest_need(fd >= 0 && syscall(SYS_ftruncate, fd, 4096) == 0, "counters");
    counters = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    guest_need(counters != MAP_FAILED, "counters");
    syscall(SYS_close, fd);
}

static void *write_on(void *argument)
{
    intptr_t number = (intptr_t)argument;

    for (uint64_t i = 0;; i++) {
        atomic_store(&counters->started[number], i + 1);
        if (pwrite(fds[number], "x", 1, (off_t)i) != 1)
            return NULL;
        atomic_store(&counters->returned[number], i + 1);
    }
}

#define WRITES_LEAST 3000

/* Until each has written for a while: how long that takes is the machine's business. */
static void wait_for_writers(void)
{
    for (int i = 0; i < THREADS; i++)
        while (atomic_load(&counters->returned[i]) < WRITES_LEAST)
            usleep(100);
}

static void start_writers(void)
{
    make_counters();
    for (intptr_t i = 0; i < THREADS; i++) {
        pthread_t thread;
        char name[32];

        snprintf(name, sizeof name, "file%d", (int)i);
        fds[i] = make_file(name);
        guest_need(!pthread_create(&thread, NULL, write_on, (void *)i), "thread");
    }
}

/* Writes until it is killed. */
static int killed(void)
{
    start_writers();
    guest_say("ready", 0);
    pause();
    return 0;
}

static int exit_while_writing(void)
{
    start_writers();
    wait_for_writers();
    exit(21);
}

static int end_while_writing(void)
{
    start_writers();
    wait_for_writers();
    _exit(22);
}

static int exec_while_writing(void)
{
    start_writers();
    wait_for_writers();
    execl("/bin/sh", "sh", "-c", "exit 27", (char *)NULL);
    return 1;
}

static void end_here(int number)
{
    (void)number;
    guest_need(write(fds[0], "last", 4) == 4, "write");
    _exit(23);
}

static int end_in_handler(void)
{
    fds[0] = make_file("handler");
    signal(SIGALRM, end_here);
    ualarm(20000, 0);
    for (;;)
        guest_need(pwrite(fds[0], "x", 1, 100) == 1, "pwrite");
    return 0;
}

static void at_exit(void)
{
    guest_need(write(fds[0], "at exit", 7) == 7, "write");
}

__attribute__((destructor)) static void destructor(void)
{
    if (fds[1])
        guest_need(write(fds[1], "destructor", 10) == 10, "write");
}

static int late_calls(void)
{
    fds[0] = make_file("at_exit");
    fds[1] = make_file("destructor");
    atexit(at_exit);
    return 24;
}

static int buffered_at_exit(void)
{
    FILE *file = fopen("buffered", "w");

    guest_need(file && fputs("written when the program ends", file) >= 0, "fputs");
    return 25;
}

static int aborted(void)
{
    fds[0] = make_file("file");
    for (int i = 0; i < 100; i++)
        guest_need(pwrite(fds[0], "x", 1, i) == 1, "pwrite");
    abort();
}

static int fast_exit(void)
{
    fds[0] = make_file("file");
    for (int i = 0; i < 100; i++)
        guest_need(pwrite(fds[0], "x", 1, i) == 1, "pwrite");
    quick_exit(26);
}

const struct guest_case guest_endings[] = {{"killed", killed},
                                           {"exit_while_writing", exit_while_writing},
                                           {"end_while_writing", end_while_writing},
                                           {"exec_while_writing", exec_while_writing},
                                           {"end_in_handler", end_in_handler},
                                           {"late_calls", late_calls},
                                           {"buffered_at_exit", buffered_at_exit},
                                           {"aborted", aborted},
                                           {"fast_exit", fast_exit},
                                           {NULL, NULL}};
