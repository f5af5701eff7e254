/* SPDX-License-Identifier: MIT */
/* Cases about descriptor numbers: all of them closed and used again, also those where the library
 * keeps its own. */
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "raw.h"

static int make_file(const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT, 0644);

    guest_need(fd >= 0, name);
    return fd;
}

/* The numbers that are taken are the same in both runs as far as the program can use them: ours is
 * skipped by the kernel, so the program asks by dup2, which moves ours. */
static int close_all(void)
{
    int closed = 0;

    make_file("first");
    for (int fd = 3; fd < 1024; fd++)
        closed += close(fd) == 0;
    guest_say("closed", closed);
    guest_say("lowest", make_file("second"));
    for (int fd = 4; fd <= 300; fd++) {
        char name[32], text[32];
        int other = make_file((snprintf(name, sizeof name, "n%d", fd), name));

        if (other != fd) {
            guest_need(dup2(other, fd) == fd, "dup2");
            guest_need(close(other) == 0, "close");
        }
        snprintf(text, sizeof text, "file %d\n", fd);
        guest_need(write(fd, text, strlen(text)) == (ssize_t)strlen(text), "write");
    }
    for (int fd = 4; fd <= 300; fd++)
        guest_need(write(fd, "more\n", 5) == 5, "write again");
    closed = 0;
    for (int fd = 3; fd < 1024; fd++)
        closed += close(fd) == 0;
    guest_say("closed", closed);
    make_file("last");
    return 0;
}

static int reuse_numbers(void)
{
    make_file("first");
    for (int round = 0; round < 3; round++) {
        for (int fd = 3; fd < 1024; fd++)
            close(fd);
        for (int i = 0; i < 400; i++) {
            int fd = make_file("again");

            guest_need(write(fd, "x", 1) == 1, "write");
        }
    }
    guest_say("size", lseek(make_file("again"), 0, SEEK_END));
    return 0;
}

static int dup2_over(void)
{
    int fd = make_file("first");

    for (int number = 250; number <= 300; number++) {
        guest_say("dup2", dup2(fd, number));
        guest_say("write", write(number, "x", 1));
        guest_say("flags", fcntl(number, F_GETFD));
        guest_say("dup3", dup3(fd, number + 100, O_CLOEXEC));
        guest_say("flags", fcntl(number + 100, F_GETFD));
    }
    guest_say("same", dup2(fd, fd));
    guest_say("of nothing", dup2(999, 5));
    guest_say("over itself", dup2(999, 999));
    guest_say("dup3 over itself", dup3(fd, fd, 0));
    guest_say("negative", dup2(fd, -1));
    guest_say("end", lseek(fd, 0, SEEK_CUR));
    return 0;
}

/* What the program sees of a number that it never opened. */
static int hidden(void)
{
    struct stat st;
    int seen = 0;

    make_file("first");
    for (int fd = 250; fd < 1024; fd++) {
        if (fcntl(fd, F_GETFD) != -1)
            guest_say("fcntl sees", fd);
        if (dup(fd) != -1)
            guest_say("dup sees", fd);
        if (dup2(fd, 5) != -1)
            guest_say("dup2 sees", fd);
        if (dup2(fd, fd) != -1)
            guest_say("dup2 to itself sees", fd);
        if (close(fd) != -1)
            guest_say("close sees", fd);
        if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED || errno != EBADF)
            guest_say("mmap sees", fd);
    }
    for (int fd = 0; fd < 1024; fd++)
        seen += fstat(fd, &st) == 0;
    guest_say("seen by fstat", seen);
    return 0;
}

static int close_ranges(void)
{
    struct stat st;

    for (int i = 0; i < 5; i++)
        make_file("some");
    guest_say("close_range", close_range(3, ~0u, 0));
    guest_say("is closed", fstat(3, &st));
    guest_say("lowest", make_file("second"));
    guest_say("write", write(3, "x", 1));
    guest_say("cloexec", close_range(3, ~0u, CLOSE_RANGE_CLOEXEC));
    guest_say("flags", fcntl(3, F_GETFD));
    guest_say("empty", close_range(5, 4, 0));
    guest_say("bad flags", close_range(3, 4, 1 << 30));
    closefrom(3);
    guest_say("is closed", fstat(3, &st));
    guest_say("lowest", make_file("third"));
    guest_say("write", write(3, "y", 1));
    guest_say("around", close_range(255, 258, 0));
    closefrom(256);
    guest_say("unshare", close_range(3, ~0u, CLOSE_RANGE_UNSHARE));
    guest_say("lowest", make_file("fourth"));
    return 0;
}

/* Raw system calls are past the wrappers: the library must notice that its number is another file
 * now. */
static int raw_close(void)
{
    int fd = make_file("first");

    for (int number = 256; number < 1024; number++)
        raw_call(SYS_close, number, 0, 0);
    for (int number = 256; number < 300; number++)
        guest_need(raw_call(SYS_dup3, fd, number, 0) == number, "raw dup2");
    for (int i = 0; i < 20000; i++)
        guest_need(pwrite(fd, "0123456789", 10, i * 10) == 10, "pwrite");
    guest_say("size", lseek(fd, 0, SEEK_END));
    return 0;
}

const struct guest_case guest_descriptors[] = {{"close_all", close_all},
                                               {"reuse_numbers", reuse_numbers},
                                               {"dup2_over", dup2_over},
                                               {"hidden", hidden},
                                               {"close_ranges", close_ranges},
                                               {"raw_close", raw_close},
                                               {NULL, NULL}};
