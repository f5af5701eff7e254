/* SPDX-License-Identifier: MIT */
/* Calls on ranges of files, locks, and files whose names are made up: by the C library, or in
 * folders that it chooses. */
#include "told_calls.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void ranges(void)
{
    int fd =
        (int)DO(open, ("ranges", O_RDWR | O_CREAT, 0600), .file = "ranges", .flags = O_RDWR | O_CREAT, .mode = 0600);
    int other = (int)DO(open, ("ranges", O_RDONLY), .file = "ranges");

    DO(truncate, ("ranges", 100000), .file = "ranges", .offset = 100000);
    DO(truncate, ("no", 5), .file = "no", .offset = 5);
    DO(fallocate, (fd, FALLOC_FL_KEEP_SIZE, 4096, 8192), .file = "ranges", .fd = fd, .offset = 4096, .size = 8192,
       .flags = FALLOC_FL_KEEP_SIZE);
    DO(fallocate, (other, 0, 0, 10), .file = "ranges", .fd = other, .offset = 0, .size = 10); /* EBADF */
    DO(posix_fallocate, (fd, 10, 20), .file = "ranges", .fd = fd, .offset = 10, .size = 20, .returns_error = 1);
    DO(posix_fallocate, (fd, 10, -1), .file = "ranges", .fd = fd, .offset = 10, .returns_error = 1); /* EINVAL */
    DO(posix_fadvise, (fd, 0, 4096, POSIX_FADV_DONTNEED), .file = "ranges", .fd = fd, .offset = 0, .size = 4096,
       .flags = POSIX_FADV_DONTNEED, .returns_error = 1);
    DO(posix_fadvise, (fd, 0, 0, 77), .file = "ranges", .fd = fd, .offset = 0, .flags = 77, .returns_error = 1);
    DO(readahead, (fd, 0, 4096), .file = "ranges", .fd = fd, .offset = 0, .size = 4096);
    DO(sync_file_range, (fd, 0, 4096, SYNC_FILE_RANGE_WRITE), .file = "ranges", .fd = fd, .offset = 0, .size = 4096,
       .flags = SYNC_FILE_RANGE_WRITE);
    DO(sync_file_range, (fd, 0, 4096, 99), .file = "ranges", .fd = fd, .offset = 0, .size = 4096, .flags = 99);
    DO(syncfs, (fd), .file = "ranges", .fd = fd);
    NOTHING(sync, (), .fd = -1);
    DO(flock, (fd, LOCK_EX), .file = "ranges", .fd = fd, .flags = LOCK_EX);
    DO(flock, (other, LOCK_SH | LOCK_NB), .file = "ranges", .fd = other, .flags = LOCK_SH | LOCK_NB); /* EAGAIN */
    DO(lockf, (fd, F_TLOCK, 10), .file = "ranges", .fd = fd, .size = 10, .flags = F_TLOCK);
    DO(lockf, (other, F_LOCK, 0), .file = "ranges", .fd = other, .flags = F_LOCK); /* EBADF */
    DO(fcntl, (fd, F_SETLKW, &(struct flock){.l_type = F_WRLCK}), .file = "ranges", .fd = fd, .mode = F_WRLCK,
       .flags = F_SETLKW);
    DO(fcntl, (fd, F_SETLKW, &(struct flock){.l_type = 77}), .file = "ranges", .fd = fd,
       .flags = F_SETLKW);                                                                       /* EINVAL */
    DO(fcntl, (fd, F_SETLKW, (struct flock *)8), .file = "ranges", .fd = fd, .flags = F_SETLKW); /* EFAULT */
    DO(fcntl, (fd, F_OFD_SETLK, &(struct flock){.l_type = F_UNLCK}), .file = "ranges", .fd = fd, .mode = F_UNLCK,
       .flags = F_OFD_SETLK);
    /* nothing of this has moved the offset */
    DO(write, (fd, "12345", 5), .file = "ranges", .fd = fd, .offset = 0, .size = 5);
    DO(unlink, ("ranges"), .file = "ranges");
    DO(fchmod, (fd, 0400), .file = "ranges", .fd = fd,
       .mode = 0400); /* it has no name any more: the one it was opened by */
    DO(close, (other), .file = "ranges", .fd = other);
    DO(close, (fd), .file = "ranges", .fd = fd);
}

static void used(int fd, const char *path)
{
    DO(write, (fd, "123", 3), .file = path, .fd = fd, .offset = 0, .size = 3);
    DO(write, (fd, "4567", 4), .file = path, .fd = fd, .offset = 3, .size = 4);
    DO(close, (fd), .file = path, .fd = fd);
}

/* The name that a template has become; a template that is none is a failure. */
static void temporary(void)
{
    const long flags = O_RDWR | O_CREAT | O_EXCL;
    char a[] = "temp-XXXXXX", b[] = "temp-XXXXXX", c[] = "temp-XXXXXX.txt", d[] = "temp-XXXXXX.txt";

    used((int)DO(mkstemp, (a), .file = a, .flags = flags, .mode = 0600), a);
    used((int)DO(mkostemp, (b, O_CLOEXEC), .file = b, .flags = flags | O_CLOEXEC, .mode = 0600), b);
    used((int)DO(mkstemps, (c, 4), .file = c, .flags = flags, .mode = 0600), c);
    used((int)DO(mkostemps, (d, 4, O_SYNC), .file = d, .flags = flags | O_SYNC, .mode = 0600), d);
    DO(mkstemp, (a), .file = a, .flags = flags, .mode = 0600);
    DO(mkostemp, (b, 0), .file = b, .flags = flags, .mode = 0600);
    DO(mkstemps, (c, 4), .file = c, .flags = flags, .mode = 0600);
    DO(mkostemps, (d, 4, 0), .file = d, .flags = flags, .mode = 0600);
    TELL(mkstemp, mkstemp64, (strcpy(a, "no/XXXXXX")), .file = a, .flags = flags, .mode = 0600);
}

/* Opened by what is not a name: the kernel says which file it is. */
static void nameless(int still)
{
    union {
        struct file_handle handle;
        char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
    } any = {.handle.handle_bytes = MAX_HANDLE_SZ};
    struct rlimit limit, none;
    FILE *stream = GET(tmpfile, (), .outside = 1, .success = next_number());
    int mount, root = (int)DO(open, (".", O_RDONLY | O_DIRECTORY), .file = ".", .flags = O_RDONLY | O_DIRECTORY);
    int fd = fileno(stream);

    DO(fwrite, ("text", 1, 4, stream), .outside = 1, .fd = fd, .offset = 0, .size = 4);
    DO(fclose, (stream), .outside = 1, .fd = fd);
    getrlimit(RLIMIT_NOFILE, &limit);
    none = (struct rlimit){(rlim_t)next_number(), limit.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    if (!still)
        GET(tmpfile, (), .file = NULL);
    setrlimit(RLIMIT_NOFILE, &limit);
    fd = (int)DO(creat, ("single", 0600), .file = "single", .flags = O_CREAT | O_WRONLY | O_TRUNC, .mode = 0600);
    DO(close, (fd), .file = "single", .fd = fd);
    DO(name_to_handle_at, (AT_FDCWD, "single", &any.handle, &mount, 0), .file = "single");
    fd = (int)DO(open_by_handle_at, (root, &any.handle, O_RDWR), .file = "single", .flags = O_RDWR, .opened = 1);
    if (fd >= 0)
        used(fd, "single");
    memset(any.room, 0xff, sizeof any.room);
    any.handle.handle_bytes = 8;
    DO(open_by_handle_at, (root, &any.handle, O_RDONLY), .file = NULL);
    DO(close, (root), .file = ".", .fd = root);
}

static void shared(void)
{
    char name[64], path[80];
    struct timespec now;
    int fd;

    clock_gettime(CLOCK_MONOTONIC, &now); /* a number of a process comes again, and others may have /dev/shm, too */
    snprintf(name, sizeof name, "/dftrace-test-%d%ld%09ld", (int)getpid(), (long)now.tv_sec, now.tv_nsec);
    snprintf(path, sizeof path, "/dev/shm%s", name);
    fd = (int)DO(shm_open, (name, O_RDWR | O_CREAT | O_EXCL, 0600), .file = path, .flags = O_RDWR | O_CREAT | O_EXCL,
                 .mode = 0600);
    DO(ftruncate, (fd, 4096), .file = path, .fd = fd, .offset = 4096);
    DO(shm_open, (name, O_RDWR | O_CREAT | O_EXCL, 0600), .file = path, .flags = O_RDWR | O_CREAT | O_EXCL,
       .mode = 0600);
    DO(shm_unlink, (name + 1), .file = path);
    DO(shm_unlink, (name), .file = path);
    DO(close, (fd), .file = path, .fd = fd);
}

void made_up(int still)
{
    temporary();
    nameless(still);
    shared();
}
