/* SPDX-License-Identifier: MIT */
/* Looks at CLOCK_MONOTONIC around each of its calls, in two threads that move from processor to
 * processor: clocked DIRECTORY CALLS NS. Thread N reads DIRECTORY/fileN at offset I in its I-th
 * call and leaves what it saw in DIRECTORY/timesN: the clock, the processor's counter (0 where
 * there is none), and the clock again before and after the call. Prints how many ns lie between two
 * readings of the clock at least. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS 2

static const char *directory;
static long calls, pause_ns;

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t ticks(void)
{
#if defined(__x86_64__)
    return (int64_t)__builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    int64_t count;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
#else
    return 0;
#endif
}

static void move_on(long i)
{
    static cpu_set_t all;
    cpu_set_t one;

    if (!CPU_COUNT(&all))
        sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    for (int cpu = 0, left = (int)(i % CPU_COUNT(&all)); cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && left-- == 0) {
            CPU_SET(cpu, &one);
            pthread_setaffinity_np(pthread_self(), sizeof one, &one);
            return;
        }
}

static void *run(void *argument)
{
    long number = (long)argument;
    int64_t(*times)[4] = calloc((size_t)calls, sizeof *times);
    const struct timespec pause = {0, pause_ns};
    char path[4096], byte;
    FILE *file;
    int fd;

    snprintf(path, sizeof path, "%s/file%ld", directory, number);
    fd = open(path, O_RDWR | O_CREAT, 0644);
    for (long i = 0; i < calls; i++) {
        if (i % 50 == 0)
            move_on(i / 50 + number);
        times[i][0] = now();
        times[i][1] = ticks();
        times[i][2] = now();
        if (pread(fd, &byte, 1, i) < 0)
            exit(1);
        times[i][3] = now();
        if (pause_ns)
            nanosleep(&pause, NULL);
    }
    snprintf(path, sizeof path, "%s/times%ld", directory, number);
    file = fopen(path, "w");
    if (!file || fwrite(times, sizeof *times, (size_t)calls, file) != (size_t)calls || fclose(file))
        exit(1);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int64_t between = INT64_MAX;

    if (argc != 4)
        return 2;
    directory = argv[1];
    calls = atol(argv[2]);
    pause_ns = atol(argv[3]);
    for (int i = 0; i < 1000; i++) {
        int64_t before = now(), after = now();

        if (after - before < between)
            between = after - before;
    }
    printf("%lld\n", (long long)between);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
