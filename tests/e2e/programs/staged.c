/* SPDX-License-Identifier: MIT */
/* Opens files that are not there, so many times, and ends in a way that its arguments name:
 *
 *   staged MODE COUNT DIRECTORY [MORE]
 *
 * Each open has the name DIRECTORY/work, so they can be counted in a trace. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char work_path[4096];

static void work(long count)
{
    for (long i = 0; i < count; i++)
        if (open(work_path, O_RDONLY) >= 0)
            abort();
}

static void *work_in_thread(void *count)
{
    work((long)(intptr_t)count);
    return NULL;
}

static void work_in_threads(long count)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work_in_thread, (void *)(intptr_t)count);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void *end_process(void *unused)
{
    (void)unused;
    usleep(50000);
    exit(0);
}

static void *end_at_once(void *unused)
{
    (void)unused;
    usleep(20000);
    _exit(0);
}

static int next_number(void)
{
    int fd = open("/dev/null", O_RDONLY);

    close(fd);
    return fd;
}

/* Does a descriptor of this process show a copy? */
static int shows_a_copy(void)
{
    char name[64], link[4096];

    for (int fd = 3; fd < 1024; fd++) {
        ssize_t n;

        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        n = readlink(name, link, sizeof link - 1);
        if (n > 0 && (link[n] = 0, strstr(link, ".moving")))
            return 1;
    }
    return 0;
}

/* A child that is born while the trace is moved. The process ends meanwhile. */
static void *fork_in_move(void *expected)
{
    usleep(150000);
    if (!fork()) {
        work(1);
        if (shows_a_copy() || next_number() != (int)(intptr_t)expected)
            write(2, "copy\n", 5);
        _exit(0);
    }
    return NULL;
}

static void use_all_numbers(void)
{
    while (dup(0) >= 0)
        ;
}

static void run_again(char **argv, const char *mode)
{
    argv[1] = (char *)(uintptr_t)mode;
    execv(argv[0], argv);
    abort();
}

static void wait_all(void)
{
    while (wait(NULL) > 0)
        ;
}

static int end(const char *mode, long count, char **argv)
{
    pthread_t thread;

    if (!strcmp(mode, "_exit"))
        _exit(0);
    if (!strcmp(mode, "quick_exit"))
        quick_exit(0);
    if (!strcmp(mode, "pthread_exit")) {
        pthread_create(&thread, NULL, end_process, NULL);
        pthread_exit(NULL);
    }
    if (!strcmp(mode, "ends_twice"))
        pthread_create(&thread, NULL, end_at_once, NULL);
    if (!strcmp(mode, "fork_late"))
        pthread_create(&thread, NULL, fork_in_move, (void *)(intptr_t)next_number());
    if (!strcmp(mode, "exec"))
        run_again(argv, "exec2");
    if (!strcmp(mode, "exec2"))
        run_again(argv, "return");
    if (!strcmp(mode, "exec_fails")) {
        for (int i = 0; i < 12; i++)
            execl("/nowhere/at/all", "nowhere", (char *)NULL);
        work(count);
    }
    if (!strcmp(mode, "fork") && !fork()) {
        work(count);
        _exit(0);
    }
    if (!strcmp(mode, "vfork") && !vfork())
        _exit(0);
    wait_all();
    if (!strcmp(mode, "threads"))
        work_in_threads(count);
    if (!strcmp(mode, "abort"))
        abort();
    if (!strcmp(mode, "term"))
        raise(SIGTERM);
    if (!strcmp(mode, "umask"))
        umask(077);
    if (!strcmp(mode, "numbers"))
        use_all_numbers();
    if (!strcmp(mode, "chroot") && (chroot(argv[4]) || chdir("/")))
        return 3;
    if (!strcmp(mode, "pause")) {
        puts("ready");
        fflush(stdout);
        pause();
    }
    if (!strcmp(mode, "tell")) {
        puts("ready");
        fflush(stdout);
    }
    return 0;
}

int main(int argc, char **argv)
{
    long count = argc > 3 ? atol(argv[2]) : 0;

    if (argc < 4)
        return 2;
    snprintf(work_path, sizeof work_path, "%s/work", argv[3]);
    work(count);
    return end(argv[1], count, argv);
}
