/* SPDX-License-Identifier: MIT */
/* Cases about little of everything: descriptors, file size, memory, and a root directory of its
 * own. */
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define MANY 20000

static int make_file(const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT, 0644);

    guest_need(fd >= 0, name);
    return fd;
}

static void limit(int what, rlim_t most)
{
    const struct rlimit limit = {most, most};

    guest_need(setrlimit(what, &limit) == 0, "setrlimit");
}

static void many_calls(int fd)
{
    char byte;

    for (int i = 0; i < MANY; i++)
        guest_need(pread(fd, &byte, 1, i) >= 0, "pread");
}

static int use_all_numbers(void)
{
    int last = -1, fd;

    while ((fd = open("number", O_RDWR | O_CREAT, 0644)) >= 0)
        last = fd;
    guest_say("last", last);
    guest_say("one more", fd);
    many_calls(last);
    return 0;
}

static int few_numbers_first(void)
{
    limit(RLIMIT_NOFILE, 10);
    return use_all_numbers();
}

static int few_numbers_later(void)
{
    close(make_file("first"));
    limit(RLIMIT_NOFILE, 10);
    return use_all_numbers();
}

static volatile sig_atomic_t xfsz;

static void on_xfsz(int number)
{
    (void)number;
    xfsz++;
}

/* The program's own signal comes; those of our writes do not. */
static int small_files_handled(void)
{
    char bytes[3000] = "";
    int fd;

    signal(SIGXFSZ, on_xfsz);
    limit(RLIMIT_FSIZE, 4096);
    fd = make_file("small");
    many_calls(fd);
    guest_say("signals", xfsz);
    guest_say("write", write(fd, bytes, sizeof bytes));
    guest_say("write", write(fd, bytes, sizeof bytes));
    guest_say("signals", xfsz);
    guest_say("write", write(fd, bytes, sizeof bytes));
    guest_say("signals", xfsz);
    many_calls(fd);
    guest_say("signals", xfsz);
    return 0;
}

static int small_files(void)
{
    limit(RLIMIT_FSIZE, 4096);
    many_calls(make_file("small"));
    return 0;
}

static int no_files(void)
{
    int fd = make_file("none");

    limit(RLIMIT_FSIZE, 0);
    many_calls(fd);
    return 0;
}

/* One that was pending before stays pending. */
static int pending_signal(void)
{
    sigset_t set, pending;
    int fd = make_file("small");

    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    sigprocmask(SIG_BLOCK, &set, NULL);
    limit(RLIMIT_FSIZE, 4096);
    many_calls(fd);
    sigpending(&pending);
    guest_say("pending", sigismember(&pending, SIGXFSZ));
    raise(SIGXFSZ);
    many_calls(fd);
    sigpending(&pending);
    guest_say("pending", sigismember(&pending, SIGXFSZ));
    return 0;
}

static void *read_some(void *argument)
{
    many_calls(*(int *)argument);
    return NULL;
}

/* Hardly any memory: what the program does has to go on, recorded or not. */
static int little_memory(void)
{
    unsigned long pages = 0;
    pthread_t thread;
    pthread_attr_t attr;
    FILE *file;
    int fd = make_file("memory");

    file = fopen("/proc/self/statm", "r");
    guest_need(file && fscanf(file, "%lu", &pages) == 1, "statm");
    fclose(file);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 64 << 10);
    limit(RLIMIT_AS, pages * 4096 + (160 << 10));
    guest_say("thread", pthread_create(&thread, &attr, read_some, &fd));
    pthread_join(thread, NULL);
    many_calls(fd);
    guest_say("write", write(fd, "x", 1));
    return 0;
}

static int no_memory_at_the_start(void)
{
    limit(RLIMIT_AS, 1 << 20);
    many_calls(open("memory", O_RDWR | O_CREAT, 0644));
    return 0;
}

static int new_root(void)
{
    int fd = make_file("before");

    guest_need(mkdir("root", 0755) == 0, "mkdir");
    guest_say("write", write(fd, "x", 1));
    guest_say("chroot", chroot("root"));
    guest_say("chdir", chdir("/"));
    fd = open("/inside", O_RDWR | O_CREAT, 0644);
    guest_say("write", write(fd, "yz", 2));
    many_calls(fd);
    return 0;
}

static int new_root_first(void)
{
    guest_need(mkdir("root", 0755) == 0, "mkdir");
    guest_say("chroot", chroot("root"));
    guest_say("chdir", chdir("/"));
    many_calls(open("/inside", O_RDWR | O_CREAT, 0644));
    return 0;
}

/* Calls and their results alone: for full disks, and directories that nobody may write to. */
static int plain_work(void)
{
    int fd = make_file("work");

    for (int i = 0; i < MANY; i++)
        guest_need(pwrite(fd, "0123456789", 10, i * 10) == 10, "pwrite");
    guest_say("size", lseek(fd, 0, SEEK_END));
    return 0;
}

const struct guest_case guest_limits[] = {{"few_numbers_first", few_numbers_first},
                                          {"few_numbers_later", few_numbers_later},
                                          {"small_files_handled", small_files_handled},
                                          {"small_files", small_files},
                                          {"no_files", no_files},
                                          {"pending_signal", pending_signal},
                                          {"little_memory", little_memory},
                                          {"no_memory_at_the_start", no_memory_at_the_start},
                                          {"new_root", new_root},
                                          {"new_root_first", new_root_first},
                                          {"plain_work", plain_work},
                                          {NULL, NULL}};
