/* SPDX-License-Identifier: MIT */
/* I/O whose bytes are known, for samples of counters.
 *
 *   sampled FILE WORD...     FILE has at least 1 MiB. Words: read (100 preads of 1,000 bytes), write (50 writes of
 *                            70 bytes to FILE.out), raw (30 reads of 10 bytes by raw system calls), fork (a child
 *                            that reads 200 times 500 bytes), memory (32 MiB, touched), pause=MS (preads of 1 byte
 *                            for so long), exec=WORD (this program again), sleep=MS, solve=MS (96 MiB more, then
 *                            FILE.solving is made, then as pause, in the region solve), after (as pause, until
 *                            FILE.solving is there), kill (by SIGKILL) */
#include <dftrace/dftrace.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char buffer[4096];

static long raw_read(int fd, void *to, unsigned long size)
{
#if defined(__x86_64__)
    long result;

    __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_read), "D"(fd), "S"(to), "d"(size) : "rcx", "r11", "memory");
    return result;
#else
    register long x8 __asm__("x8") = SYS_read;
    register long x0 __asm__("x0") = fd;
    register void *x1 __asm__("x1") = to;
    register unsigned long x2 __asm__("x2") = size;

    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
#endif
}

static void must(int condition)
{
    if (!condition)
        _exit(3);
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void read_for(int fd, double seconds)
{
    double end = now() + seconds;

    while (now() < end)
        must(pread(fd, buffer, 1, 0) == 1);
}

static const char *beside(const char *file, const char *ending)
{
    static char path[4096];

    snprintf(path, sizeof path, "%s.%s", file, ending);
    return path;
}

static int make(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    must(fd >= 0);
    return fd;
}

static void write_some(const char *file)
{
    int fd = make(beside(file, "out"));

    for (int i = 0; i < 50; i++)
        must(write(fd, buffer, 70) == 70);
    close(fd);
}

static void fork_one(int fd)
{
    int status;
    pid_t child = fork();

    if (!child) {
        for (int i = 0; i < 200; i++)
            must(pread(fd, buffer, 500, i) == 500);
        exit(0);
    }
    must(waitpid(child, &status, 0) == child && !status);
}

static void touch_memory(size_t size)
{
    static char *volatile memory;

    memory = malloc(size);
    must(memory != NULL);
    memset(memory, 1, size);
}

static void read_until_there(int fd, const char *path)
{
    while (access(path, F_OK))
        read_for(fd, 0.001);
}

static void solve(const char *file, int fd, double seconds)
{
    DFTRACE_BEGIN("solve");
    touch_memory(96u << 20);
    close(make(beside(file, "solving")));
    read_for(fd, seconds);
    DFTRACE_END("solve");
}

static void do_word(char **argv, int fd, const char *word)
{
    if (!strcmp(word, "read"))
        for (int i = 0; i < 100; i++)
            must(pread(fd, buffer, 1000, i) == 1000);
    else if (!strcmp(word, "write"))
        write_some(argv[1]);
    else if (!strcmp(word, "raw"))
        for (int i = 0; i < 30; i++)
            must(raw_read(fd, buffer, 10) == 10);
    else if (!strcmp(word, "fork"))
        fork_one(fd);
    else if (!strcmp(word, "memory"))
        touch_memory(32u << 20);
    else if (!strncmp(word, "solve=", 6))
        solve(argv[1], fd, atof(word + 6) / 1000);
    else if (!strcmp(word, "after"))
        read_until_there(fd, beside(argv[1], "solving"));
    else if (!strncmp(word, "pause=", 6))
        read_for(fd, atof(word + 6) / 1000);
    else if (!strncmp(word, "sleep=", 6))
        usleep((unsigned)atoi(word + 6) * 1000);
    else if (!strncmp(word, "exec=", 5))
        execl(argv[0], argv[0], argv[1], word + 5, (char *)NULL);
    else if (!strcmp(word, "kill"))
        raise(SIGKILL);
    else
        _exit(2);
}

int main(int argc, char **argv)
{
    int fd = argc > 2 ? open(argv[1], O_RDONLY) : -1;

    must(fd >= 0);
    for (int i = 2; i < argc; i++)
        do_word(argv, fd, argv[i]);
    return 0;
}
