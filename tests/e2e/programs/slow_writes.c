/* SPDX-License-Identifier: MIT */
/* A library behind ours whose write() takes SLOW_MS milliseconds longer from SLOW_AT seconds on:
 * what a slow file system, or a throttled rank, looks like. */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static ssize_t (*real)(int, const void *, size_t);
static double from;
static struct timespec pause_;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("SLOW_AT"), *ms = getenv("SLOW_MS");

    real = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    from = at ? now() + atof(at) : 0;
    pause_.tv_nsec = ms ? atol(ms) * 1000000 : 0;
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    if (from > 0 && now() >= from)
        nanosleep(&pause_, NULL);
    return real(fd, bytes, size);
}
