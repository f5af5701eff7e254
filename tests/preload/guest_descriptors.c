/* SPDX-License-Identifier: MIT */
/* Cases about descriptor numbers: all of them closed and used again, also those where the library
 * keeps its own. */
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
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
    for (int number = 980; number < 1024; number++)
        guest_need(raw_call(SYS_dup3, fd, number, 0) == number, "raw dup2");
    for (int i = 0; i < 20000; i++)
        guest_need(pwrite(fd, "0123456789", 10, i * 10) == 10, "pwrite");
    guest_say("size", lseek(fd, 0, SEEK_END));
    return 0;
}

/* --- numbers near the library's own ----------------------------------------------------------- */

static void send_descriptors(int to, const int *numbers, size_t count)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(253 * sizeof(int))];
    } control;
    struct iovec byte = {"x", 1};
    struct msghdr message = {.msg_iov = &byte, .msg_iovlen = 1, .msg_control = &control};

    message.msg_controllen = CMSG_SPACE(count * sizeof *numbers);
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(count * sizeof *numbers);
    memcpy(CMSG_DATA(&control.header), numbers, count * sizeof *numbers);
    guest_need(sendmsg(to, &message, 0) == 1, "sendmsg");
}

/* Says how many descriptors came, and the last of them. */
static void receive_descriptors(int from)
{
    char control[CMSG_SPACE(253 * sizeof(int))], byte;
    struct iovec place = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &place, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    const struct cmsghdr *header;
    size_t count;
    int last;

    guest_need(recvmsg(from, &message, 0) == 1, "recvmsg");
    header = CMSG_FIRSTHDR(&message);
    guest_say("cut", message.msg_flags & MSG_CTRUNC);
    count = header ? (header->cmsg_len - CMSG_LEN(0)) / sizeof last : 0;
    guest_say("came", (long)count);
    if (!count)
        return;
    memcpy(&last, CMSG_DATA(header) + (count - 1) * sizeof last, sizeof last);
    guest_say("last", last);
}

static void set_limit(rlim_t soft, rlim_t hard)
{
    struct rlimit limit;

    guest_need(getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
    limit.rlim_cur = soft;
    if (hard)
        limit.rlim_max = hard;
    guest_need(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
}

static void open_until(int number)
{
    for (int fd = 0; fd < number - 1;)
        guest_need((fd = open("file", O_RDONLY)) >= 0, "open");
}

/* All numbers up to the limit, by every way: none is missing, none comes early. */
static int take_all_numbers(void)
{
    int fd = make_file("file"), pair[2] = {-1, -1}, sockets[2], numbers[253], n = 0, last = -1, got;

    for (int at = 100; at < 1000; at += 50) {
        got = fcntl(fd, F_DUPFD, at);
        guest_say("F_DUPFD", got);
        guest_need(pwrite(got, "x", 1, at) == 1 && close(got) == 0, "pwrite");
    }
    guest_say("F_DUPFD of the last", fcntl(fd, F_DUPFD, 1023));
    guest_say("F_DUPFD behind it", fcntl(fd, F_DUPFD, 1023));
    guest_need(close(1023) == 0, "close");
    guest_need(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0, "socketpair");
    for (int i = 0; i < 253; i++)
        numbers[i] = fd;
    open_until(760);
    send_descriptors(sockets[0], numbers, 253);
    receive_descriptors(sockets[1]);
    open_until(1019);
    guest_say("pipe", pipe(pair));
    guest_say("reads", pair[0]);
    guest_say("writes", pair[1]);
    for (; (got = dup(fd)) >= 0; n++)
        last = got;
    guest_say("more", n);
    guest_say("last", last);
    guest_say("pipe", pipe(pair));
    for (int i = 0; i < 20000; i++) /* drains of the ring while no number is free */
        guest_need(pwrite(fd, "0123456789", 10, i) == 10, "pwrite");
    return fd;
}

static int all_numbers(void)
{
    set_limit(1024, 0);
    take_all_numbers();
    return 0;
}

/* Numbers that the library sees nobody take: what is left is the program's all the same. */
static int numbers_unseen(void)
{
    int fd = make_file("file"), copies[4];

    set_limit(1024, 0);
    errno = 0;
    for (int round = 0; round < 4; round++) {
        while (raw_call(SYS_dup, fd, 0, 0) < 1022)
            ;
        copies[round] = round == 0   ? dup(fd)
                        : round == 1 ? open("file", O_RDONLY)
                        : round == 2 ? fcntl(fd, F_DUPFD, 0)
                                     : (int)syscall(SYS_dup, fd);
        guest_say("last", copies[round]);
        guest_say("errno", errno);
        guest_say("too many", dup(fd));
        guest_need(close_range(500, ~0u, 0) == 0, "close_range");
        set_limit(round & 1 ? 1024 : 2048, 0); /* the library's number is the program's again */
        guest_need(open("file", O_RDONLY) == 500 && close(500) == 0, "open");
        set_limit(1024, 0);
        errno = 0;
    }
    return 0;
}

/* There is no number above the limit either. */
static int all_numbers_there_are(void)
{
    int fd;

    set_limit(1024, 1024);
    fd = take_all_numbers();
    guest_need(close(1000) == 0 && close(1001) == 0, "close");
    for (int i = 0; i < 20000; i++)
        guest_need(pwrite(fd, "0123456789", 10, i) == 10, "pwrite");
    guest_say("free", dup(fd));
    return 0;
}

/* The limit goes up and down meanwhile; numbers beyond it are no longer to be had. */
static int moving_limit(void)
{
    int fd = make_file("file"), n = 0;

    set_limit(300, 0);
    guest_say("F_DUPFD", fcntl(fd, F_DUPFD, 299));
    guest_say("F_DUPFD behind the limit", fcntl(fd, F_DUPFD, 300));
    while (dup(fd) >= 0)
        n++;
    guest_say("up to 300", n);
    set_limit(2000, 0);
    guest_say("F_DUPFD", fcntl(fd, F_DUPFD, 1023));
    for (; dup(fd) >= 0; n++)
        guest_need(pwrite(fd, "x", 1, n) == 1, "pwrite");
    guest_say("up to 2000", n);
    guest_say("closed", close_range(100, ~0u, 0));
    set_limit(50, 0);
    guest_say("dup", dup(fd));
    guest_need(pwrite(fd, "y", 1, 0) == 1, "pwrite");
    set_limit(1024, 0);
    guest_say("dup", dup(fd));
    return 0;
}

/* What was above the limit is the program's when the limit is raised. */
static int raised_limit(void)
{
    static const rlim_t limits[] = {300, 600, 1024, 2048};
    int fd = make_file("file");

    for (int i = 0; i < 4; i++) {
        set_limit(limits[i], 0);
        for (int more = 0; more < 3; more++)
            guest_say("next", dup(fd));
        while (dup(fd) >= 0)
            ;
        guest_need(pwrite(fd, "x", 1, i) == 1, "pwrite");
    }
    return 0;
}

/* A terminal gives descriptors by ioctl(). */
static int numbers_of_ioctl(void)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY), last = -1, got;

    guest_need(terminal >= 0 && !unlockpt(terminal), "posix_openpt");
    make_file("file");
    set_limit(1024, 0);
    open_until(765);
    while ((got = ioctl(terminal, TIOCGPTPEER, O_RDWR | O_NOCTTY)) >= 0)
        last = got;
    guest_say("last", last);
    return 0;
}

/* Few numbers, and none above them; several at once. */
static int few_numbers(void)
{
    int fd = make_file("file"), sockets[2], numbers[100];

    set_limit(256, 256);
    guest_need(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0, "socketpair");
    open_until(110);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 100; i++)
            numbers[i] = fd;
        send_descriptors(sockets[0], numbers, 100);
        receive_descriptors(sockets[1]);
        guest_say("next", dup(fd));
    }
    guest_say("too many", dup(fd));
    return 0;
}

const struct guest_case guest_descriptors[] = {{"raised_limit", raised_limit},
                                               {"few_numbers", few_numbers},
                                               {"numbers_of_ioctl", numbers_of_ioctl},
                                               {"all_numbers", all_numbers},
                                               {"all_numbers_there_are", all_numbers_there_are},
                                               {"numbers_unseen", numbers_unseen},
                                               {"moving_limit", moving_limit},
                                               {"close_all", close_all},
                                               {"reuse_numbers", reuse_numbers},
                                               {"dup2_over", dup2_over},
                                               {"hidden", hidden},
                                               {"close_ranges", close_ranges},
                                               {"raw_close", raw_close},
                                               {NULL, NULL}};
