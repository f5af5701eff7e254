/* SPDX-License-Identifier: MIT */
/* Calls that fail: failing WHAT TIMES, in the working directory. Ends with 77 where the file system cannot do it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static char bytes[8192];
static long times;

static void need(int holds)
{
    if (!holds)
        exit(77);
}

/* Writes past the page cache that are not aligned, and do it again without. */
static void direct(void)
{
    int fd = open("direct.dat", O_CREAT | O_RDWR | O_TRUNC | O_DIRECT, 0600), flags = fcntl(fd, F_GETFL);

    need(fd >= 0);
    for (long i = 0; i < times; i++) {
        need(pwrite(fd, bytes + 1, 1000, i * 1000) < 0 && errno == EINVAL);
        fcntl(fd, F_SETFL, flags & ~O_DIRECT);
        need(pwrite(fd, bytes + 1, 1000, i * 1000) == 1000);
        fcntl(fd, F_SETFL, flags);
    }
}

/* Writes beyond the size that a file may have. */
static void limited(void)
{
    struct rlimit limit = {32 << 20, 32 << 20};
    int fd = open("limited.dat", O_CREAT | O_RDWR | O_TRUNC, 0600);

    signal(SIGXFSZ, SIG_IGN);
    need(!setrlimit(RLIMIT_FSIZE, &limit));
    for (long i = 0; i < times; i++)
        need(pwrite(fd, bytes, 100, 32 << 20) < 0 && errno == EFBIG);
}

static void loop(void)
{
    need(!symlink("loop", "loop"));
    for (long i = 0; i < times; i++)
        need(open("loop", O_RDONLY) < 0 && errno == ELOOP);
}

static void directory(void)
{
    int fd = open(".", O_RDONLY);

    for (long i = 0; i < times; i++)
        need(pread(fd, bytes, 100, 0) < 0 && errno == EISDIR);
}

/* What fails here is an answer. */
static void answers(void)
{
    int fd = open("there", O_CREAT | O_RDWR, 0600), ends[2];

    need(!pipe2(ends, O_NONBLOCK));
    for (long i = 0; i < times; i++) {
        need(open("there", O_CREAT | O_EXCL | O_RDWR, 0600) < 0 && errno == EEXIST);
        need(open("there/below", O_RDONLY) < 0 && errno == ENOTDIR);
        need(read(ends[0], bytes, 1) < 0 && errno == EAGAIN);
        need(fsync(ends[1]) < 0 && errno == EINVAL);
        need(lseek(ends[1], 0, SEEK_SET) < 0 && errno == ESPIPE);
    }
    close(fd);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {
        {"direct", direct}, {"limited", limited}, {"loop", loop}, {"directory", directory}, {"answers", answers}};

    times = argc == 3 ? atol(argv[2]) : 0;
    for (size_t i = 0; times && i < sizeof all / sizeof *all; i++)
        if (!strcmp(argv[1], all[i].name))
            all[i].run();
    return !times;
}
