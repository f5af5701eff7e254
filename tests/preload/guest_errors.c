/* SPDX-License-Identifier: MIT */
/* Cases about failing calls: the errno of each, and that calls which succeed leave it alone. */
#include "guest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static long of_pointer(const void *result)
{
    return result ? 1 : -1;
}

static int missing(void)
{
    struct stat st;

    guest_say("open", open("missing", O_RDONLY));
    guest_say("openat", openat(AT_FDCWD, "missing/too", O_RDONLY));
    guest_say("creat", creat("missing/too", 0644));
    guest_say("stat", stat("missing", &st));
    guest_say("lstat", lstat("missing", &st));
    guest_say("fstatat", fstatat(AT_FDCWD, "missing", &st, AT_SYMLINK_NOFOLLOW));
    guest_say("unlink", unlink("missing"));
    guest_say("rename", rename("missing", "elsewhere"));
    guest_say("mkdir", mkdir("missing/too", 0755));
    guest_say("chdir", chdir("missing"));
    guest_say("opendir", of_pointer(opendir("missing")));
    guest_say("fopen", of_pointer(fopen("missing", "r")));
    guest_say("fopen", of_pointer(fopen("missing", "?")));
    guest_say("not a directory", open("/etc/hostname/too", O_RDONLY));
    guest_say("is a directory", open(".", O_WRONLY));
    guest_say("empty", open("", O_RDONLY));
    guest_say("execve", execl("missing", "missing", (char *)NULL));
    return 0;
}

static int not_open(void)
{
    char bytes[4] = "";
    struct iovec part = {bytes, 4};
    struct stat st;

    for (int i = 0; i < 4; i++) {
        int fd = (int[]){77, -1, 5000, 0x7fffffff}[i];

        guest_say("read", read(fd, bytes, 4));
        guest_say("write", write(fd, bytes, 4));
        guest_say("pread", pread(fd, bytes, 4, 0));
        guest_say("pwritev", pwritev(fd, &part, 1, 0));
        guest_say("lseek", lseek(fd, 0, SEEK_CUR));
        guest_say("fstat", fstat(fd, &st));
        guest_say("fsync", fsync(fd));
        guest_say("ftruncate", ftruncate(fd, 0));
        guest_say("dup", dup(fd));
        guest_say("dup2", dup2(fd, 9));
        guest_say("fcntl", fcntl(fd, F_GETFL));
        guest_say("close", close(fd));
        guest_say("fdopen", of_pointer(fdopen(fd, "r")));
        guest_say("fdopendir", of_pointer(fdopendir(fd)));
        guest_say("fchdir", fchdir(fd));
        guest_say("openat", openat(fd, "x", O_RDONLY));
        guest_say("dprintf", dprintf(fd, "x"));
    }
    return 0;
}

static int refused(void)
{
    char bytes[4] = "";
    int fd = open("mine", O_RDONLY | O_CREAT, 0), pipes[2];

    guest_say("write", write(fd, bytes, 4));
    guest_say("pread", pread(fd, bytes, 4, -1));
    guest_say("lseek", lseek(fd, -1, SEEK_SET));
    guest_say("lseek", lseek(fd, 0, 99));
    guest_say("ftruncate", ftruncate(fd, 0));
    guest_say("exclusive", open("mine", O_RDONLY | O_CREAT | O_EXCL, 0));
    guest_say("again", open("mine", O_RDWR));
    guest_say("etc", open("/etc/shadow", O_RDWR));
    guest_say("create", open("/etc/not-ours", O_RDWR | O_CREAT, 0644));
    guest_say("execute", execl("/etc/hostname", "x", (char *)NULL));
    guest_need(pipe(pipes) == 0, "pipe");
    guest_say("seek", lseek(pipes[0], 0, SEEK_SET));
    guest_say("pread", pread(pipes[0], bytes, 1, 0));
    fcntl(pipes[0], F_SETFL, O_NONBLOCK);
    guest_say("empty pipe", read(pipes[0], bytes, 4));
    return 0;
}

/* Addresses that are none: the kernel says so, nobody looks at them before. Through variables, so
 * that no compiler looks either. */
static int bad_addresses(void)
{
    char *volatile bad = (char *)8;
    char *volatile none = NULL;
    int fd = open("mine", O_RDWR | O_CREAT, 0644);

    guest_say("write", write(fd, "abcd", 4));
    guest_say("pread", pread(fd, bad, 4, 0));
    guest_say("write", write(fd, bad, 4));
    guest_say("writev", writev(fd, (struct iovec *)(void *)bad, 2));
    guest_say("preadv", preadv(fd, (struct iovec *)(void *)bad, 2, 0));
    guest_say("iovcnt", writev(fd, (struct iovec *)(void *)bad, -1));
    guest_say("open", open(bad, O_RDONLY));
    guest_say("open", open(none, O_RDONLY));
    guest_say("stat", stat("mine", (struct stat *)(void *)bad));
    guest_say("stat", stat(bad, (struct stat *)(void *)bad));
    guest_say("fstat", fstat(fd, (struct stat *)(void *)bad));
    guest_say("rename", rename("mine", bad));
    guest_say("rename", rename(bad, "mine"));
    guest_say("unlink", unlink(bad));
    guest_say("mkdir", mkdir(none, 0755));
    guest_say("chdir", chdir(bad));
    guest_say("fopen", of_pointer(fopen(bad, "r")));
    guest_say("execve", execve(bad, NULL, NULL));
    guest_say("execve", execve(none, NULL, NULL));
    guest_say("execv", execv(bad, (char *[]){"x", NULL}));
    return 0;
}

/* errno of before stays through calls that succeed, and through readdir at the end of a
 * directory. */
static int kept(void)
{
    struct dirent *entry;
    struct stat st;
    char bytes[8];
    int entries = 0, fd;
    DIR *dir;
    FILE *file;

    errno = EOWNERDEAD;
    fd = open("kept", O_RDWR | O_CREAT, 0644);
    guest_need(write(fd, "abc", 3) == 3 && lseek(fd, 0, SEEK_SET) == 0 && read(fd, bytes, 8) == 3, "calls");
    guest_need(!stat("kept", &st) && !fstat(fd, &st) && !fsync(fd) && dup2(fd, 9) == 9 && !close(9), "calls");
    guest_need(!rename("kept", "kept2") && !unlink("kept2") && !mkdir("sub", 0755) && !close(fd), "calls");
    guest_say("after calls", errno);
    dir = opendir(".");
    guest_need(dir != NULL, "opendir");
    errno = EOWNERDEAD;
    while ((entry = readdir(dir)))
        entries++;
    guest_say("entries", entries);
    guest_say("after readdir", errno);
    errno = 0;
    guest_need(readdir(dir) == NULL, "readdir");
    guest_say("at the end again", errno);
    guest_say("closedir", closedir(dir));
    file = fopen("stream", "w+");
    guest_need(file != NULL, "fopen");
    errno = EOWNERDEAD;
    guest_need(fputs("abc\n", file) >= 0 && fputc('d', file) == 'd' && !fflush(file) && !fseek(file, 0, SEEK_SET),
               "streams");
    guest_need(fgets(bytes, 8, file) && fgetc(file) == 'd' && fgetc(file) == EOF && feof(file), "streams");
    guest_say("after streams", errno);
    guest_say("fclose", fclose(file));
    return 0;
}

const struct guest_case guest_errors[] = {{"missing", missing}, {"not_open", not_open},
                                          {"refused", refused}, {"bad_addresses", bad_addresses},
                                          {"kept", kept},       {NULL, NULL}};
