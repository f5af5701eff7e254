/* SPDX-License-Identifier: MIT */
/* Times one kind of call in a loop and prints ns per operation. Run alone and under the library by
 * run.py.
 *
 *   bench_calls CASE COUNT FILE      FILE: a regular file of at least 16 MiB, read only, in the page cache
 *   bench_calls spawn COUNT FILE PRELOAD PREFIX PROGRAM [ARG...]
 *       starts PROGRAM, its output thrown away, and waits for it, COUNT times; with PRELOAD not empty under that
 *       library. Prints the processor time of one process (ns) */
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <dftrace/dftrace.h>

#define BLOCK_BYTES 4096
#define FILE_BLOCKS 4096

static const char *bench_path;

static double bench_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void bench_die(const char *what)
{
    perror(what);
    exit(1);
}

static int bench_open(const char *path)
{
    int fd = open(path, O_RDONLY);

    if (fd < 0)
        bench_die(path);
    return fd;
}

/* Each returns the ns that `count` operations took. */

static double case_pread(long count)
{
    char buffer[BLOCK_BYTES];
    int fd = bench_open(bench_path);
    double start = bench_now_ns();

    for (long i = 0; i < count; i++)
        if (pread(fd, buffer, sizeof(buffer), i % FILE_BLOCKS * BLOCK_BYTES) != sizeof(buffer))
            bench_die("pread");
    start = bench_now_ns() - start;
    close(fd);
    return start;
}

static void *bench_reader(void *count)
{
    case_pread(*(long *)count);
    return NULL;
}

static double case_pread2(long count)
{
    pthread_t other;
    double start = bench_now_ns();

    if (pthread_create(&other, NULL, bench_reader, &count))
        bench_die("pthread_create");
    case_pread(count);
    pthread_join(other, NULL);
    return bench_now_ns() - start;
}

static double case_lseek(long count)
{
    int fd = bench_open(bench_path);
    double start = bench_now_ns();

    for (long i = 0; i < count; i++)
        if (lseek(fd, i % FILE_BLOCKS * BLOCK_BYTES, SEEK_SET) < 0)
            bench_die("lseek");
    start = bench_now_ns() - start;
    close(fd);
    return start;
}

static double case_fstat(long count)
{
    int fd = bench_open(bench_path);
    double start = bench_now_ns();
    struct stat st;

    for (long i = 0; i < count; i++)
        if (fstat(fd, &st))
            bench_die("fstat");
    start = bench_now_ns() - start;
    close(fd);
    return start;
}

static double case_open(long count)
{
    double start = bench_now_ns();

    for (long i = 0; i < count; i++)
        close(bench_open(bench_path));
    return bench_now_ns() - start;
}

static double case_fread(long count)
{
    char buffer[64];
    FILE *file = fopen(bench_path, "r");
    double start = bench_now_ns();

    if (!file)
        bench_die(bench_path);
    for (long i = 0; i < count; i++)
        if (fread(buffer, 1, sizeof(buffer), file) != sizeof(buffer))
            rewind(file);
    start = bench_now_ns() - start;
    fclose(file);
    return start;
}

static double case_getc(long count)
{
    FILE *file = fopen(bench_path, "r");
    double start = bench_now_ns();

    if (!file)
        bench_die(bench_path);
    for (long i = 0; i < count; i++)
        if (getc(file) == EOF)
            rewind(file);
    start = bench_now_ns() - start;
    fclose(file);
    return start;
}

/* /dev is outside of what is traced by default. */
static double case_untraced(long count)
{
    char buffer[16];
    int fd = bench_open("/dev/null");
    double start = bench_now_ns();

    for (long i = 0; i < count; i++)
        if (read(fd, buffer, sizeof(buffer)) != 0)
            bench_die("read");
    start = bench_now_ns() - start;
    close(fd);
    return start;
}

/* One page each time: the kernel's part is the smallest there is. */
static double bench_maps(long count, int flags, int fd)
{
    double start = bench_now_ns();

    for (long i = 0; i < count; i++) {
        void *at = mmap(NULL, BLOCK_BYTES, PROT_READ, MAP_PRIVATE | flags, fd, 0);

        if (at == MAP_FAILED || munmap(at, BLOCK_BYTES))
            bench_die("mmap");
    }
    return bench_now_ns() - start;
}

static double case_mapfile(long count)
{
    int fd = bench_open(bench_path);
    double time = bench_maps(count, 0, fd);

    close(fd);
    return time;
}

static double case_mapmemory(long count)
{
    return bench_maps(count, MAP_ANONYMOUS, -1);
}

/* Memory, in a program that has mapped some hundred parts of a file. */
static double case_mapbeside(long count)
{
    int fd = bench_open(bench_path);
    void *maps[500];
    double time;

    for (int i = 0; i < 500; i++)
        maps[i] = mmap(NULL, 3 * BLOCK_BYTES, PROT_READ, MAP_SHARED, fd, i * BLOCK_BYTES);
    time = bench_maps(count, MAP_ANONYMOUS, -1);
    for (int i = 0; i < 500; i++)
        munmap(maps[i], 3 * BLOCK_BYTES);
    close(fd);
    return time;
}

static double case_region(long count)
{
    double start = bench_now_ns();

    for (long i = 0; i < count; i++) {
        DFTRACE_BEGIN("bench");
        __asm__ volatile("" ::: "memory");
        DFTRACE_END("bench");
    }
    return bench_now_ns() - start;
}

/* A function of another library that does next to nothing; run.py has it woven. */
static double case_woven(long count)
{
    double start = bench_now_ns();

    for (long i = 0; i < count; i++)
        rand();
    return bench_now_ns() - start;
}

/* A thread that makes one traced call, so that it needs all that a traced thread needs. */
static void *bench_short_thread(void *fd)
{
    char byte;

    if (pread(*(int *)fd, &byte, 1, 0) != 1)
        bench_die("pread");
    return NULL;
}

static double case_thread(long count)
{
    int fd = bench_open(bench_path);
    double start = bench_now_ns();

    for (long i = 0; i < count; i++) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, bench_short_thread, &fd))
            bench_die("pthread_create");
        pthread_join(thread, NULL);
    }
    start = bench_now_ns() - start;
    close(fd);
    return start;
}

extern char **environ;

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Waits for a child, and returns the ns of processor time that it has taken. */
static double bench_wait(pid_t pid)
{
    struct rusage usage;
    int status;

    if (wait4(pid, &status, 0, &usage) != pid || status != 0)
        bench_die("child");
    return 1e9 * (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e3 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* Returns what the process took of which a tenth took less: others may have disturbed the rest. */
static double case_spawn(long count, char **argv)
{
    double *times = calloc((size_t)count, sizeof *times), least;
    posix_spawn_file_actions_t actions;

    if (!times)
        bench_die("calloc");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (*argv[0]) {
        setenv("LD_PRELOAD", argv[0], 1);
        setenv("DFTRACER_ENABLE", "1", 1);
        setenv("DFTRACER_LOG_FILE", argv[1], 1);
    }
    for (long i = 0; i < count; i++) {
        pid_t pid;

        if (posix_spawnp(&pid, argv[2], &actions, NULL, argv + 2, environ))
            bench_die(argv[2]);
        times[i] = bench_wait(pid);
    }
    posix_spawn_file_actions_destroy(&actions);
    qsort(times, (size_t)count, sizeof *times, compare);
    least = times[count / 10];
    free(times);
    return least;
}

static const struct bench_case {
    const char *name;
    double (*run)(long count);
} bench_cases[] = {
    {"pread", case_pread},         {"pread2", case_pread2},   {"lseek", case_lseek},
    {"fstat", case_fstat},         {"open", case_open},       {"fread", case_fread},
    {"getc", case_getc},           {"region", case_region},   {"woven", case_woven},
    {"untraced", case_untraced},   {"mapfile", case_mapfile}, {"mapmemory", case_mapmemory},
    {"mapbeside", case_mapbeside}, {"thread", case_thread},
};

int main(int argc, char **argv)
{
    long count = argc > 3 ? atol(argv[2]) : 0;

    if (count <= 0) {
        fprintf(stderr, "usage: bench_calls CASE COUNT FILE\n");
        return 2;
    }
    bench_path = argv[3];
    if (strcmp(argv[1], "spawn") == 0 && argc > 6) {
        printf("%.3f\n", case_spawn(count, argv + 4));
        return 0;
    }
    for (size_t i = 0; i < sizeof(bench_cases) / sizeof(*bench_cases); i++)
        if (strcmp(argv[1], bench_cases[i].name) == 0) {
            bench_cases[i].run(count / 20 + 1); /* warm up */
            printf("%.3f\n", bench_cases[i].run(count) / (double)count);
            return 0;
        }
    fprintf(stderr, "bench_calls: no case %s\n", argv[1]);
    return 2;
}
