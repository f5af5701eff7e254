/* SPDX-License-Identifier: MIT */
/* Cases about where calls happen: appends, copies of descriptors, offsets shared with children,
 * inherited descriptors. */
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int make_file(const char *name, int flags)
{
    int fd = open(name, O_RDWR | O_CREAT | flags, 0644);

    guest_need(fd >= 0, name);
    return fd;
}

/* Offsets 0, 100, 200; then the other descriptor of the same file puts its own between. */
static int append(void)
{
    char bytes[100] = "append";
    int fd = make_file("append", O_APPEND), other = make_file("append", O_APPEND), late = make_file("late", 0);

    guest_say("write", write(fd, bytes, 100));
    guest_say("write", write(other, bytes, 50));
    guest_say("write", write(fd, bytes, 100));
    guest_say("position", lseek(fd, 0, SEEK_CUR));
    guest_say("seek", lseek(fd, 10, SEEK_SET));
    guest_say("read", read(fd, bytes, 20));
    guest_say("write", write(fd, bytes, 30));
    guest_say("position", lseek(fd, 0, SEEK_CUR));
    guest_say("write", write(late, bytes, 60));
    guest_say("seek", lseek(late, 0, SEEK_SET));
    guest_say("flags", fcntl(late, F_SETFL, O_APPEND));
    guest_say("write", write(late, bytes, 7));
    guest_say("flags", fcntl(late, F_SETFL, 0));
    guest_say("seek", lseek(late, 5, SEEK_SET));
    guest_say("write", write(late, bytes, 3));
    return 0;
}

static int copies(void)
{
    char bytes[64] = "";
    struct iovec parts[2] = {{bytes, 10}, {bytes + 20, 5}};
    int fd = make_file("copies", 0), two = dup(fd), three = fcntl(fd, F_DUPFD, 40), four = dup2(fd, 60);

    guest_say("write", write(fd, bytes, 10));
    guest_say("write", write(two, bytes, 20));
    guest_say("write", write(three, bytes, 30));
    guest_say("write", writev(four, parts, 2));
    guest_say("seek", lseek(two, 5, SEEK_SET));
    guest_say("close", close(fd));
    guest_say("read", read(three, bytes, 7));
    guest_say("read", readv(four, parts, 2));
    guest_say("pread", pread(two, bytes, 4, 50));
    guest_say("read", read(two, bytes, 1));
    guest_say("seek", lseek(two, -3, SEEK_END));
    guest_say("read", read(four, bytes, 64));
    guest_say("read at the end", read(four, bytes, 64));
    guest_say("position", lseek(three, 0, SEEK_CUR));
    return 0;
}

/* Parent and child move one offset in turn. */
static int shared_with_child(void)
{
    char bytes[100] = "";
    int fd = make_file("shared", 0), to_child[2], to_parent[2];
    pid_t pid;

    guest_need(!pipe(to_child) && !pipe(to_parent), "pipes");
    guest_say("write", write(fd, bytes, 10));
    pid = fork();
    guest_need(pid >= 0, "fork");
    if (pid == 0) {
        guest_need(read(to_child[0], bytes, 1) == 1 && write(fd, bytes, 20) == 20 && write(to_parent[1], bytes, 1) == 1,
                   "child");
        _exit(0);
    }
    guest_need(write(to_child[1], bytes, 1) == 1 && read(to_parent[0], bytes, 1) == 1, "parent");
    guest_say("write", write(fd, bytes, 30));
    waitpid(pid, NULL, 0);
    guest_say("write", write(fd, bytes, 40));
    guest_say("position", lseek(fd, 0, SEEK_CUR));
    return 0;
}

/* Standard input and output are files that the caller opened, at offsets of their own. */
static int inherited(void)
{
    char bytes[64];

    guest_say("read", read(0, bytes, 10));
    guest_say("read", read(0, bytes, 10));
    guest_say("write", write(1, bytes, 5));
    guest_say("write", write(1, bytes, 6));
    guest_say("input", lseek(0, 0, SEEK_CUR));
    guest_say("output", lseek(1, 0, SEEK_CUR));
    guest_say("close", close(0));
    guest_say("open", open("new", O_RDWR | O_CREAT, 0644));
    guest_say("write", write(0, bytes, 3));
    return 0;
}

/* Offsets of more than four GiB, sizes of none. */
static int far_away(void)
{
    char bytes[8] = "far";
    const off_t far = (off_t)5 << 32;
    int fd = make_file("far", 0);

    guest_say("pwrite", pwrite(fd, bytes, 8, far));
    guest_say("seek", lseek(fd, far, SEEK_SET));
    guest_say("read", read(fd, bytes, 4));
    guest_say("read", read(fd, bytes, 0));
    guest_say("truncate", ftruncate(fd, 100));
    guest_say("read", read(fd, bytes, 4));
    guest_say("hole", lseek(fd, 0, SEEK_HOLE));
    guest_say("write", write(fd, bytes, 1));
    return 0;
}

static int directories(void)
{
    struct stat st;
    int here, sub;

    guest_say("mkdir", mkdir("sub", 0755));
    sub = open("sub", O_RDONLY | O_DIRECTORY);
    here = open(".", O_RDONLY | O_DIRECTORY);
    guest_say("openat", openat(sub, "a", O_RDWR | O_CREAT, 0644) >= 0);
    guest_say("renameat", renameat(sub, "a", here, "b"));
    guest_say("chdir", chdir("sub"));
    guest_say("fstatat", fstatat(here, "b", &st, 0));
    guest_say("rename", rename("../b", "c"));
    guest_say("fchdir", fchdir(here));
    guest_say("stat", stat("sub/../sub/./c", &st));
    guest_say("unlinkat", unlinkat(sub, "c", 0));
    guest_say("unlinkat", unlinkat(here, "sub", AT_REMOVEDIR));
    guest_say("in a directory that is gone", openat(sub, "d", O_RDWR | O_CREAT, 0644));
    guest_say("statx", statx(AT_FDCWD, ".", 0, STATX_SIZE, &(struct statx){0}));
    return 0;
}

/* Names relative to duplicates of a directory's descriptor, before and after it is renamed. */
static int duplicates(void)
{
    int opened, copy, again;

    guest_say("mkdir", mkdir("sub", 0700));
    opened = open("sub", O_RDONLY);
    copy = fcntl(opened, F_DUPFD_CLOEXEC, 50);
    guest_say("close", close(openat(copy, "a", O_CREAT | O_WRONLY, 0600)));
    guest_say("close", close(opened));
    guest_say("access", faccessat(copy, "a", F_OK, 0));
    guest_say("rename", rename("sub", "moved"));
    guest_say("access", faccessat(copy, "a", F_OK, 0));
    again = open("moved", O_RDONLY | O_DIRECTORY);
    guest_say("unlink", unlinkat(dup2(again, 51), "a", 0));
    guest_say("close", close(copy) | close(again) | close(51));
    guest_say("rmdir", rmdir("moved"));
    return 0;
}

/* A directory that is renamed, and another one in its place: each descriptor goes on with its own. */
static int replaced(void)
{
    int old, new;

    guest_say("mkdir", mkdir("sub", 0700));
    old = open("sub", O_RDONLY | O_DIRECTORY);
    guest_say("rename", rename("sub", "moved"));
    guest_say("mkdir", mkdir("sub", 0700));
    new = open("sub", O_RDONLY | O_DIRECTORY);
    guest_say("access", faccessat(old, "a", F_OK, 0));
    guest_say("access", faccessat(new, "a", F_OK, 0));
    guest_say("access", faccessat(old, "a", F_OK, 0));
    guest_say("close", close(old) | close(new));
    guest_say("rmdir", rmdir("moved") | rmdir("sub"));
    return 0;
}

/* Names of each length up to 40, with parts behind them that mean nothing, and some that look so. */
static int spellings(void)
{
    static const char *const behind[] = {"",     "/",   "//",    "/.",   "/..",   "/.a",   "/..a",  "/...",
                                         "/./a", "//a", "/../a", "/.a/", "/a/./", "/a/..", "/.a.b", "/a//b/../../..c"};
    char path[80];

    for (int length = 1; length < 40; length++)
        for (size_t i = 0; i < sizeof behind / sizeof *behind; i++) {
            memset(path, 'd', (size_t)length);
            strcpy(path + length, behind[i]);
            guest_say(behind[i], access(path, F_OK));
        }
    return 0;
}

static sigjmp_buf out;

static void jump(int number)
{
    (void)number;
    siglongjmp(out, 1);
}

/* A call that is left by a longjmp never ends; the next ones know where they are. The signal comes
 * while the kernel writes. */
static int left_calls(void)
{
    static char many[16 << 20];
    struct itimerval soon = {{0, 0}, {0, 300}};
    char bytes[64] = "";
    int fd = make_file("left", 0);

    signal(SIGALRM, jump);
    guest_say("write", write(fd, bytes, 10));
    for (volatile int i = 0; i < 3; i++)
        if (!sigsetjmp(out, 1)) {
            setitimer(ITIMER_REAL, &soon, NULL);
            for (;;)
                guest_need(pwrite(fd, many, 1, 0) == 1 && lseek(fd, 0, SEEK_SET) == 0 &&
                               write(fd, many, sizeof many) > 0,
                           "write");
        }
    guest_need(!ftruncate(fd, 10), "ftruncate");
    guest_say("seek", lseek(fd, 10, SEEK_SET));
    guest_say("write", write(fd, bytes, 20));
    guest_say("write", write(fd, bytes, 30));
    guest_say("seek", lseek(fd, 5, SEEK_SET));
    guest_say("read", read(fd, bytes, 40));
    guest_say("read", read(fd, bytes, 40));
    return 0;
}

const struct guest_case guest_offsets[] = {{"append", append},
                                           {"left_calls", left_calls},
                                           {"copies", copies},
                                           {"shared_with_child", shared_with_child},
                                           {"inherited", inherited},
                                           {"far_away", far_away},
                                           {"directories", directories},
                                           {"duplicates", duplicates},
                                           {"replaced", replaced},
                                           {"spellings", spellings},
                                           {NULL, NULL}};
