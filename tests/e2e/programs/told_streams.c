/* SPDX-License-Identifier: MIT */
/* Functions that read and write lines inside, in a stream of the program; and descriptors that come
 * out of other things than files. */
#include "told_calls.h"

#include <execinfo.h>
#include <fcntl.h>
#include <grp.h>
#include <gshadow.h>
#include <malloc.h>
#include <mntent.h>
#include <pty.h>
#include <pwd.h>
#include <shadow.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* The event's result are the bytes, whatever the function returns. */
#define MOVED(name, function, arguments, bytes, ...)                                                                   \
    ((void)function arguments, told(#name, (bytes), 0, TOLD(__VA_ARGS__)))

/* Lengths of the lines as the functions write them. */
#define PASSWD       "who:x:12:34:Who:/home/who:/bin/sh\n"
#define GROUP        "group:x:56:who,whom\n"
#define SHADOW       "who:!:19000:0:99999:7:::\n"
#define GSHADOW      "group:!:who:whom\n"
#define MOUNT        "/dev/sda1 /mnt ext4 rw 0 1\n"
#define LENGTH(text) ((long)sizeof(text) - 1)

long next_number(void)
{
    int fd = eventfd(0, 0);

    close(fd);
    return fd;
}

static void write_lines(const char *path)
{
    struct passwd user = {(char *)"who", (char *)"x", 12, 34, (char *)"Who", (char *)"/home/who", (char *)"/bin/sh"};
    char *members[] = {(char *)"who", (char *)"whom", NULL}, *nobody[] = {(char *)"who", NULL};
    struct group group = {(char *)"group", (char *)"x", 56, members};
    struct spwd shadow = {(char *)"who", (char *)"!", 19000, 0, 99999, 7, -1, -1, ~0ul};
    struct sgrp gshadow = {(char *)"group", (char *)"!", nobody, members + 1};
    FILE *stream = GET(fopen, (path, "w"), .file = path, .mode = 0666, .flags = O_WRONLY | O_CREAT | O_TRUNC,
                       .success = next_number());
    int fd = fileno(stream);
    long at = 0;

    MOVED(putpwent, putpwent, (&user, stream), LENGTH(PASSWD), .file = path, .fd = fd, .offset = at);
    at += LENGTH(PASSWD);
    MOVED(putgrent, putgrent, (&group, stream), LENGTH(GROUP), .file = path, .fd = fd, .offset = at);
    at += LENGTH(GROUP);
    MOVED(putspent, putspent, (&shadow, stream), LENGTH(SHADOW), .file = path, .fd = fd, .offset = at);
    at += LENGTH(SHADOW);
    MOVED(putsgent, putsgent, (&gshadow, stream), LENGTH(GSHADOW), .file = path, .fd = fd, .offset = at);
    at += LENGTH(GSHADOW);
    DO(fwrite, (MOUNT, 1, LENGTH(MOUNT), stream), .file = path, .fd = fd, .size = LENGTH(MOUNT), .offset = at);
    DO(fclose, (stream), .file = path, .fd = fd);
}

static void read_lines(const char *path, int again)
{
    static char buffer[1000];
    struct passwd user, *user_found;
    struct group group, *group_found;
    struct spwd shadow, *shadow_found;
    struct sgrp gshadow, *gshadow_found;
    struct mntent mount;
    FILE *stream = GET(fopen, (path, "r"), .file = path, .success = next_number());
    int fd = fileno(stream);
    long at = 0;

    if (again)
        MOVED(fgetpwent, fgetpwent_r, (stream, &user, buffer, sizeof buffer, &user_found), LENGTH(PASSWD), .file = path,
              .fd = fd, .offset = at);
    else
        MOVED(fgetpwent, fgetpwent, (stream), LENGTH(PASSWD), .file = path, .fd = fd, .offset = at);
    at += LENGTH(PASSWD);
    if (again)
        MOVED(fgetgrent, fgetgrent_r, (stream, &group, buffer, sizeof buffer, &group_found), LENGTH(GROUP),
              .file = path, .fd = fd, .offset = at);
    else
        MOVED(fgetgrent, fgetgrent, (stream), LENGTH(GROUP), .file = path, .fd = fd, .offset = at);
    at += LENGTH(GROUP);
    if (again)
        MOVED(fgetspent, fgetspent_r, (stream, &shadow, buffer, sizeof buffer, &shadow_found), LENGTH(SHADOW),
              .file = path, .fd = fd, .offset = at);
    else
        MOVED(fgetspent, fgetspent, (stream), LENGTH(SHADOW), .file = path, .fd = fd, .offset = at);
    at += LENGTH(SHADOW);
    if (again)
        MOVED(fgetsgent, fgetsgent_r, (stream, &gshadow, buffer, sizeof buffer, &gshadow_found), LENGTH(GSHADOW),
              .file = path, .fd = fd, .offset = at);
    else
        MOVED(fgetsgent, fgetsgent, (stream), LENGTH(GSHADOW), .file = path, .fd = fd, .offset = at);
    at += LENGTH(GSHADOW);
    if (again)
        MOVED(getmntent_r, getmntent_r, (stream, &mount, buffer, sizeof buffer), LENGTH(MOUNT), .file = path, .fd = fd,
              .offset = at);
    else
        MOVED(getmntent, getmntent, (stream), LENGTH(MOUNT), .file = path, .fd = fd, .offset = at);
    at += LENGTH(MOUNT);
    MOVED(fgetpwent, fgetpwent, (stream), 0, .file = path, .fd = fd, .offset = at); /* the end */
    DO(fclose, (stream), .file = path, .fd = fd);
}

static void mounts(void)
{
    const struct mntent mount = {(char *)"/dev/sda1", (char *)"/mnt", (char *)"ext4", (char *)"rw", 0, 1};
    FILE *stream = GET(setmntent, ("mounts", "w+"), .file = "mounts", .mode = 0666, .flags = O_RDWR | O_CREAT | O_TRUNC,
                       .success = next_number());
    int fd = fileno(stream);

    DO(addmntent, (stream, &mount), .file = "mounts", .fd = fd, .flags = SEEK_END);
    DO(fwrite, ("#\n", 1, 2, stream), .file = "mounts", .fd = fd, .size = 2, .offset = LENGTH(MOUNT));
    DO(endmntent, (stream), .file = "mounts", .fd = fd);
    GET(setmntent, ("no/mounts", "r"), .file = "no/mounts");
}

/* Closes a descriptor so that nobody sees it: what is known about its number is out of date from
 * now on. */
static void close_unseen(int fd)
{
#if defined(__x86_64__)
    long result;

    __asm__ volatile("syscall" : "=a"(result) : "0"(3L), "D"((long)fd) : "rcx", "r11", "memory");
#else
    close(fd);
#endif
}

/* Opens a file, and leaves its number behind. */
static int leave_number(void)
{
    int fd = (int)DO(open, ("left", O_RDWR | O_CREAT, 0600), .file = "left", .flags = O_RDWR | O_CREAT, .mode = 0600);

    close_unseen(fd);
    return fd;
}

static void receive(int many)
{
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr header;
    } control = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
    char byte = 1;
    struct iovec iov = {&byte, 1};
    struct mmsghdr message = {{NULL, 0, &iov, 1, &control, sizeof control, 0}, 0};
    int pair[2], sent = open("received", O_RDWR | O_CREAT, 0600), number;

    told("open", sent, 0, TOLD(.file = "received", .flags = O_RDWR | O_CREAT, .mode = 0600));
    memcpy(CMSG_DATA(&control.header), &sent, sizeof sent);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || sendmsg(pair[0], &message.msg_hdr, 0) != 1)
        abort();
    number = leave_number();
    if (many ? recvmmsg(pair[1], &message, 1, 0, NULL) != 1 : recvmsg(pair[1], &message.msg_hdr, 0) != 1)
        abort();
    memcpy(&sent, CMSG_DATA(&control.header), sizeof sent);
    if (sent != number)
        abort();
    DO(write, (number, "12", 2), .file = "received", .fd = number, .size = 2, .offset = 0);
    DO(close, (number), .file = "received", .fd = number);
    close(pair[0]);
    close(pair[1]);
    DO(close, (number - 3), .file = "received", .fd = number - 3);
}

static void terminal(void)
{
    int number = leave_number(), one, other;

    if (openpty(&one, &other, NULL, NULL, NULL))
        return;
    if (one != number || write(one, "x", 1) != 1) /* of no interest: a terminal */
        abort();
    close(one);
    close(other);
}

static void backtraces(void)
{
    void *addresses[4] = {(void *)&backtraces};
    int fd = (int)DO(open, ("trace", O_RDWR | O_CREAT, 0600), .file = "trace", .flags = O_RDWR | O_CREAT, .mode = 0600);
    struct stat st;

    NOTHING(backtrace_symbols_fd, (addresses, 1, fd), .file = "trace", .fd = fd);
    DO(fstat, (fd, &st), .file = "trace", .fd = fd);
    DO(write, (fd, "123", 3), .file = "trace", .fd = fd, .size = 3, .offset = st.st_size);
    DO(close, (fd), .file = "trace", .fd = fd);
}

static void memory(void)
{
    FILE *stream = GET(fopen, ("memory", "w"), .file = "memory", .mode = 0666, .flags = O_WRONLY | O_CREAT | O_TRUNC,
                       .success = next_number());
    int fd = fileno(stream);
    struct stat st;

    malloc_info(0, stream);
    fflush(stream);
    stat("memory", &st);
    told("malloc_info", st.st_size, 0, TOLD(.file = "memory", .fd = fd, .offset = 0));
    told("fflush", 0, 0, TOLD(.file = "memory", .fd = fd));
    told("stat", 0, 0, TOLD(.file = "memory"));
    DO(fclose, (stream), .file = "memory", .fd = fd);
}

void streams(void)
{
    write_lines("lines");
    read_lines("lines", 0);
    read_lines("lines", 1);
    mounts();
    memory();
    receive(0);
    receive(1);
    terminal();
    backtraces();
}
