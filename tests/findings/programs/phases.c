/* SPDX-License-Identifier: MIT */
/* A rank that computes, waits and writes, for so many milliseconds each:
 *
 *     phases FILE PHASE...
 *
 * cMS   computes          sMS   does nothing          nMS   takes so much processor time, and no region says so
 * wMS   writes to FILE    bMS   computes while a thread writes to FILE */
#include <dftrace/dftrace.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const char *path;
static char buffer[1 << 16];

static double now_by(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double now(void)
{
    return now_by(CLOCK_MONOTONIC);
}

static void compute(int ms)
{
    double end = now() + ms;

    DFTRACE_BEGIN_CAT("COMPUTE", "solve");
    while (now() < end)
        ;
    DFTRACE_END_CAT("COMPUTE", "solve");
}

/* However fast the disk is, it takes that long. */
static void *save(void *argument)
{
    double end = now() + *(int *)argument;
    int fd = open(path, O_WRONLY | O_CREAT, 0666);

    while (now() < end)
        if (pwrite(fd, buffer, sizeof buffer, 0) != sizeof buffer || fdatasync(fd))
            exit(1);
    close(fd);
    return NULL;
}

int main(int argc, char **argv)
{
    path = argv[1];
    for (int i = 2; i < argc; i++) {
        int ms = atoi(argv[i] + 1);
        pthread_t thread;

        switch (argv[i][0]) {
        case 'c':
            compute(ms);
            break;
        case 'n':
            for (double end = now_by(CLOCK_PROCESS_CPUTIME_ID) + ms; now_by(CLOCK_PROCESS_CPUTIME_ID) < end;)
                ;
            break;
        case 's':
            usleep((useconds_t)ms * 1000);
            break;
        case 'w':
            save(&ms);
            break;
        case 'b':
            if (pthread_create(&thread, NULL, save, &ms))
                return 1;
            compute(ms + 50);
            pthread_join(thread, NULL);
            break;
        default:
            return 2;
        }
    }
    return 0;
}
