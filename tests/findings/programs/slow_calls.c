/* SPDX-License-Identifier: MIT */
/* Preloaded behind the tracer: a file system on which a read or write takes as long as a test
 * wants.
 *
 * SLOW_US: of every write, in microseconds; SLOW_MIB_US: for each MiB of it. SLOW_READ_US: of every
 * read at an offset; SLOW_INSIDE_US: of those that begin inside a block of 4 KiB, too. SLOW_SYNC_US:
 * of every fsync and fdatasync. SLOW_SEEK_US: of the first lseek. SLOW_CHANGE_US: of every unlink,
 * rename and ftruncate; SLOW_STAT_US: of every stat of a path with SLOW_STAT_IN in it. SLOW_RANK,
 * SLOW_AFTER, SLOW_RANK_US: of the writes of one rank, after so many. SLOW_LOCK: a file of zeros;
 * writes of all processes with it follow each other. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static long number_of(const char *name)
{
    const char *text = getenv(name);

    return text ? atol(text) : 0;
}

static void wait_us(long us)
{
    const struct timespec time = {us / 1000000, us % 1000000 * 1000};

    if (us)
        nanosleep(&time, NULL);
}

/* A lock in a file of zeros: the next ticket, and the one whose turn it is. */
static int *lock_of_all(void)
{
    static int *lock;
    const char *path = getenv("SLOW_LOCK");

    if (!lock && path) {
        int fd = open(path, O_RDWR | O_CLOEXEC);

        lock = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
    }
    return lock;
}

/* Waits for its turn, without burning a processor that the others need. */
static void take(int *lock)
{
    int ticket = lock ? __atomic_fetch_add(&lock[0], 1, __ATOMIC_RELAXED) : 0;

    while (lock && __atomic_load_n(&lock[1], __ATOMIC_ACQUIRE) != ticket)
        wait_us(50);
}

static void be_slow(size_t length)
{
    static long writes;
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *slow = getenv("SLOW_RANK");
    int *lock = lock_of_all();

    take(lock);
    wait_us(number_of("SLOW_US") + (long)(length * (size_t)number_of("SLOW_MIB_US") >> 20));
    if (rank && slow && !strcmp(rank, slow) && ++writes > number_of("SLOW_AFTER"))
        wait_us(number_of("SLOW_RANK_US"));
    if (lock)
        __atomic_fetch_add(&lock[1], 1, __ATOMIC_RELEASE);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset)
{
    static ssize_t (*next)(int, const void *, size_t, off_t);

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "pwrite");
    be_slow(length);
    return next(fd, bytes, length, offset);
}

ssize_t write(int fd, const void *bytes, size_t length)
{
    static ssize_t (*next)(int, const void *, size_t);

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "write");
    be_slow(length);
    return next(fd, bytes, length);
}

ssize_t pread(int fd, void *bytes, size_t length, off_t offset)
{
    static ssize_t (*next)(int, void *, size_t, off_t);

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "pread");
    wait_us(number_of("SLOW_READ_US") + (offset % 4096 ? number_of("SLOW_INSIDE_US") : 0));
    return next(fd, bytes, length, offset);
}

int fsync(int fd)
{
    static int (*next)(int);

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "fsync");
    wait_us(number_of("SLOW_SYNC_US"));
    return next(fd);
}

int fdatasync(int fd)
{
    static int (*next)(int);

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "fdatasync");
    wait_us(number_of("SLOW_SYNC_US"));
    return next(fd);
}

off_t lseek(int fd, off_t offset, int whence)
{
    static off_t (*next)(int, off_t, int);

    if (!next) {
        *(void **)&next = dlsym(RTLD_NEXT, "lseek");
        wait_us(number_of("SLOW_SEEK_US"));
    }
    return next(fd, offset, whence);
}

int unlink(const char *path)
{
    static int (*next)(const char *);

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "unlink");
    wait_us(number_of("SLOW_CHANGE_US"));
    return next(path);
}

int rename(const char *from, const char *to)
{
    static int (*next)(const char *, const char *);

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "rename");
    wait_us(number_of("SLOW_CHANGE_US"));
    return next(from, to);
}

int ftruncate(int fd, off_t length)
{
    static int (*next)(int, off_t);

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "ftruncate");
    wait_us(number_of("SLOW_CHANGE_US"));
    return next(fd, length);
}

int stat(const char *path, struct stat *st)
{
    static int (*next)(const char *, struct stat *);
    const char *in = getenv("SLOW_STAT_IN");

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "stat");
    if (in && strstr(path, in))
        wait_us(number_of("SLOW_STAT_US"));
    return next(path, st);
}
