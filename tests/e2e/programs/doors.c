/* SPDX-License-Identifier: MIT */
/* Names that lead elsewhere: /proc/self/fd, /dev/stdin, deleted files, directories that are
 * renamed, files without a name. usage: doors DIRECTORY */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void need(int condition, const char *what)
{
    if (!condition) {
        perror(what);
        exit(99);
    }
}

static int make(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);

    need(fd >= 0 && write(fd, "0123456789", 10) == 10, path);
    return fd;
}

int main(int argc, char **argv)
{
    char bytes[16], path[64];
    int fd, again, directory;
    FILE *stream;

    need(argc == 2 && !chdir(argv[1]), "directory");
    fd = make("file");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    need((again = open(path, O_RDONLY)) >= 0 && read(again, bytes, 4) == 4 && read(again, bytes, 3) == 3, path);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    need((stream = fopen(path, "r")) != NULL && fread(bytes, 1, 5, stream) == 5, path);
    need(!fclose(stream) && dup2(fd, 0) == 0 && (again = open("/dev/stdin", O_RDONLY)) >= 0 &&
             read(again, bytes, 2) == 2,
         "stdin");
    need((again = open("/proc/self/cwd/file", O_RDONLY)) >= 0 && read(again, bytes, 1) == 1, "cwd");
    need((again = open("/proc/self/status", O_RDONLY)) >= 0 && read(again, bytes, 1) == 1, "status");
    need(!mkdir("a", 0755) && !chdir("a") && !mkdir("b", 0755) && (directory = open("b", O_RDONLY | O_DIRECTORY)) >= 0,
         "a");
    close(make("one"));
    need((again = openat(directory, "two", O_WRONLY | O_CREAT, 0644)) >= 0 && !close(again), "two");
    need(!rename("../a", "../c"), "rename");
    close(make("three"));
    need((again = openat(directory, "four", O_WRONLY | O_CREAT, 0644)) >= 0 && !close(again), "four");
    fd = make("gone");
    need(!unlink("gone") && write(fd, "x", 1) == 1, "gone");
    need((fd = open(".", O_RDWR | O_TMPFILE, 0600)) >= 0 && write(fd, "y", 1) == 1, "unnamed");
    return 0;
}
