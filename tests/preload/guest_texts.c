/* SPDX-License-Identifier: MIT */
/* Cases about texts of the program that end, or do not end, before memory that cannot be read. */
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ROOM ((size_t)16384)

char *guest_text_at_the_edge(size_t length)
{
    char *at = mmap(NULL, ROOM + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    guest_need(at != MAP_FAILED && mprotect(at + ROOM, 4096, PROT_NONE) == 0, "memory");
    return memset(at + ROOM - length, 'a', length);
}

/* A copy of this text, whose NUL is the last byte that can be read. */
static char *at_the_edge(const char *text)
{
    return strcpy(guest_text_at_the_edge(strlen(text) + 1), text);
}

static void one_path(const char *path)
{
    struct statfs fs;
    struct statx stx;
    struct stat st;
    char room[16];

    guest_say("open", open(path, O_RDONLY));
    guest_say("openat", openat(AT_FDCWD, path, O_RDWR | O_CREAT, 0600));
    guest_say("mkdir", mkdir(path, 0755));
    guest_say("rmdir", rmdir(path));
    guest_say("unlink", unlink(path));
    guest_say("stat", stat(path, &st));
    guest_say("lstat", lstat(path, &st));
    guest_say("statx", statx(AT_FDCWD, path, 0, 0, &stx));
    guest_say("access", access(path, F_OK));
    guest_say("readlink", readlink(path, room, sizeof room));
    guest_say("chdir", chdir(path));
    guest_say("chmod", chmod(path, 0));
    guest_say("chown", chown(path, 0, 0));
    guest_say("truncate", truncate(path, 0));
    guest_say("utimensat", utimensat(AT_FDCWD, path, NULL, 0));
    guest_say("statfs", statfs(path, &fs));
    guest_say("getxattr", getxattr(path, "user.x", room, sizeof room));
    guest_say("mkfifo", mkfifo(path, 0600));
    guest_say("inotify", inotify_add_watch(-1, path, IN_OPEN));
    guest_say("fopen", fopen(path, "r") ? 1 : -1);
    guest_say("pathconf", pathconf(path, _PC_PATH_MAX)); /* nobody looks at more than a byte */
}

/* Of two the kernel may never come to the second. */
static void two_paths(const char *path)
{
    guest_say("rename", rename(path, "x"));
    guest_say("rename to", rename("x", path));
    guest_say("rename nothing to", rename("", path));
    guest_say("rename no file to", rename("no/x", path));
    guest_say("link", link(path, "x"));
    guest_say("link to", link("no/x", path));
    guest_say("symlink", symlink(path, "x"));
    guest_say("symlink at", symlink("", path));
}

static int unterminated(void)
{
    const size_t lengths[] = {4096, 4097, 8192, 100};

    for (int i = 0; i < 4; i++) {
        one_path(guest_text_at_the_edge(lengths[i]));
        two_paths(guest_text_at_the_edge(lengths[i]));
    }
    return 0;
}

/* They can be read to their end, whatever lies behind it and whatever the call says. */
static int terminated(void)
{
    const struct rlimit none = {3, 3};

    guest_need(mkdir("full", 0755) == 0 && mkdir("full/sub", 0755) == 0, "mkdir");
    guest_say("missing", open(at_the_edge("missing"), O_RDONLY));
    guest_say("full", rmdir(at_the_edge("full")));
    guest_say("onto a full one", rename(at_the_edge("full/sub"), at_the_edge("full")));
    guest_need(setrlimit(RLIMIT_NOFILE, &none) == 0, "setrlimit");
    guest_say("no number", open(at_the_edge("full/sub"), O_RDONLY));
    return 0;
}

static int run_of(pid_t pid)
{
    int status = -1;

    guest_need(waitpid(pid, &status, 0) == pid, "wait");
    return status;
}

static int execs(const char *path)
{
    char *const argv[] = {(char[]){"x"}, NULL}, *const envp[] = {(char *)(uintptr_t)path, NULL};
    pid_t pid = -1;

    guest_say("execve", execve(path, argv, environ));
    guest_say("environment", execve("/bin/true", argv, envp));
    guest_say("spawn", posix_spawn(&pid, path, NULL, NULL, argv, environ));
    guest_say("system", system(path));
    guest_say("popen", popen(path, "r") ? 1 : -1);
    return 0;
}

/* 131,072 bytes are the most that the kernel takes: then a text is read to its end, and refused. */
static int unterminated_programs(void)
{
    execs(guest_text_at_the_edge(100));
    execs(guest_text_at_the_edge(5000));
    return 0;
}

static int variable_at_the_edge(void)
{
    char *const argv[] = {(char[]){"cat"}, (char[]){"file"}, NULL}, *const envp[] = {at_the_edge("A=1"), NULL};
    pid_t pid;

    close(open("file", O_RDWR | O_CREAT, 0644));
    pid = fork();
    if (pid == 0) {
        execve("/bin/cat", argv, envp);
        _exit(1);
    }
    guest_say("cat", run_of(pid));
    return 0;
}

const struct guest_case guest_texts[] = {{"unterminated", unterminated},
                                         {"terminated", terminated},
                                         {"unterminated_programs", unterminated_programs},
                                         {"variable_at_the_edge", variable_at_the_edge},
                                         {NULL, NULL}};
