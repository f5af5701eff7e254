/* Looks at CLOCK_MONOTONIC around each of its calls, in two threads that move from processor to processor: clocked DIRECTORY CALLS NS.
 * Thread N reads DIRECTORY/fileN at offset I in its I-th call and leaves what it saw in DIRECTORY/timesN. */
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
    int64_t *times = calloc((size_t)calls * 2, sizeof *times);
    const struct timespec pause = {0, pause_ns};
    char path[4096], byte;
    FILE *file;
    int fd;

    snprintf(path, sizeof path, "%s/file%ld", directory, number);
    fd = open(path, O_RDWR | O_CREAT, 0644);
    for (long i = 0; i < calls; i++) {
        if (i % 50 == 0)
            move_on(i / 50 + number);
        times[2 * i] = now();
        if (pread(fd, &byte, 1, i) < 0)
            exit(1);
        times[2 * i + 1] = now();
        if (pause_ns)
            nanosleep(&pause, NULL);
    }
    snprintf(path, sizeof path, "%s/times%ld", directory, number);
    file = fopen(path, "w");
    if (!file || fwrite(times, sizeof *times * 2, (size_t)calls, file) != (size_t)calls || fclose(file))
        exit(1);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    struct timespec real;
    int64_t before, after;

    if (argc != 4)
        return 2;
    directory = argv[1];
    calls = atol(argv[2]);
    pause_ns = atol(argv[3]);
    before = now();
    clock_gettime(CLOCK_REALTIME, &real);
    after = now();
    printf("%lld\n", (long long)((int64_t)real.tv_sec * 1000000000 + real.tv_nsec - (before + after) / 2));
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
