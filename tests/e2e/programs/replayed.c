/* SPDX-License-Identifier: MIT */
/* What a replay is tried with: many kinds of calls by several threads and processes, in the folder that the first
 * argument names.
 *
 *   replayed FOLDER all        everything below, once
 *   replayed FOLDER slow       files that are made one after the other, some tenths of a second apart
 *   replayed FOLDER inherit    several children use streams over one descriptor
 *   replayed FOLDER hole       a read far behind the beginning of a file with a hole
 *   replayed FOLDER many N     N small writes and reads in each of two threads
 *   replayed FOLDER crowd      threads that open, use and close at once: numbers of descriptors are used again
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define HANDED 40 /* files that one thread makes for the other */

static char buffer[1 << 16];
static int pipes[2];

static void check(int fine, const char *what)
{
    if (fine)
        return;
    perror(what);
    exit(1);
}

static void make_file(const char *path, size_t bytes)
{
    int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644);

    check(fd >= 0 && write(fd, buffer, bytes) == (ssize_t)bytes && !close(fd), path);
}

static void use_descriptors(void)
{
    struct iovec parts[2] = {{buffer, 100}, {buffer, 1000}};
    struct stat st;
    int fd = open("input.bin", O_RDWR), copy;

    check(fd >= 0, "input.bin");
    while (read(fd, buffer, 4096) > 0) {
    }
    check(lseek(fd, 10, SEEK_SET) == 10 && lseek(fd, 20, SEEK_CUR) == 30 && lseek(fd, -100, SEEK_END) > 0, "lseek");
    check(read(fd, buffer, 4096) == 100, "read");
    check(pread(fd, buffer, 500, 77) == 500 && pwrite(fd, buffer, 700, 1234) == 700, "pread");
    lseek(fd, 0, SEEK_SET);
    check(readv(fd, parts, 2) == 1100 && writev(fd, parts, 2) == 1100, "readv");
    check(preadv(fd, parts, 2, 9) == 1100 && pwritev(fd, parts, 2, 20000) == 1100, "preadv");
    copy = dup(fd);
    check(copy >= 0 && dup2(fd, 70) == 70 && fcntl(fd, F_DUPFD, 60) >= 60, "dup");
    check(read(copy, buffer, 50) == 50 && read(70, buffer, 50) == 50, "read of a copy");
    check(!fsync(fd) && !fdatasync(copy) && !fstat(fd, &st) && !ftruncate(fd, 15000), "fsync");
    check(!close(copy), "close");
    check(!posix_fadvise(fd, 0, 4096, POSIX_FADV_SEQUENTIAL) && !close(fd), "close");
    fd = open("log.txt", O_CREAT | O_WRONLY | O_APPEND, 0600);
    check(write(fd, buffer, 30) == 30 && write(fd, buffer, 31) == 31 && !close(fd), "log.txt");
}

static void use_streams(void)
{
    FILE *stream = fopen("text.txt", "w");
    char line[200];

    for (int i = 0; i < 300; i++)
        fputc('a' + i % 20, stream);
    for (int i = 0; i < 50; i++)
        fputs("a line of some length\n", stream);
    fprintf(stream, "number %d\n", 12);
    fwrite(buffer, 16, 100, stream);
    check(!fflush(stream) && !fclose(stream), "text.txt");
    stream = fopen("given.txt", "r");
    check(stream && fread(buffer, 1, 1000, stream) == 1000 && !fseek(stream, 3000, SEEK_SET), "given.txt");
    check(fread(buffer, 8, 10, stream) == 10 && !fseek(stream, 0, SEEK_END) && ftell(stream) == 9000, "given.txt");
    rewind(stream);
    check(fgets(line, 100, stream) && fgetc(stream) != EOF && !fclose(stream), "given.txt");
    stream = fopen("text.txt", "r+");
    check(stream && fread(buffer, 1, 100, stream) == 100 && !fseek(stream, 2000, SEEK_SET), "text.txt");
    check(fwrite(buffer, 1, 500, stream) == 500 && !fclose(stream), "text.txt");
    stream = fopen("text.txt", "a");
    check(stream && fwrite(buffer, 1, 77, stream) == 77 && !fclose(stream), "text.txt");
    check(!fopen("no/such.txt", "r"), "no/such.txt");
}

static void use_names(void)
{
    struct stat st;
    DIR *dir;

    check(!mkdir("new", 0755) && mkdir("new", 0755) && !mkdir("new/inner", 0700), "mkdir");
    make_file("new/inner/a", 5000);
    check(!rename("new/inner/a", "new/b") && stat("new/inner/a", &st) && !stat("new/b", &st), "rename");
    check(!lstat("new/b", &st) && !access("new/b", R_OK) && access("gone", F_OK), "stat");
    check(open("gone", O_RDONLY) < 0 && open("new/b", O_CREAT | O_EXCL | O_WRONLY, 0600) < 0, "open");
    check(!truncate("new/b", 100) && !chmod("new/b", 0640), "truncate");
    dir = opendir("new");
    check(dir != NULL, "opendir");
    while (readdir(dir)) {
    }
    check(!closedir(dir) && rmdir("new") && !rmdir("new/inner") && !unlink("new/b") && !rmdir("new"), "rmdir");
}

/* What one thread makes, the other reads and removes. */
static void *take_files(void *context)
{
    (void)context;
    for (int i = 0; i < HANDED; i++) {
        char name[32], number;
        int fd;

        check(read(pipes[0], &number, 1) == 1, "pipe");
        snprintf(name, sizeof name, "handed-%d", number);
        fd = open(name, O_RDONLY);
        check(fd >= 0 && read(fd, buffer, 4096) == 3000 && !close(fd) && !unlink(name), name);
    }
    return NULL;
}

static void use_threads(void)
{
    pthread_t thread;

    check(!pipe(pipes) && !pthread_create(&thread, NULL, take_files, NULL), "pthread_create");
    for (char i = 0; i < HANDED; i++) {
        char name[32];

        snprintf(name, sizeof name, "handed-%d", i);
        make_file(name, 3000);
        check(write(pipes[1], &i, 1) == 1, "pipe");
    }
    pthread_join(thread, NULL);
}

/* A child uses what it inherited, and what it makes is used afterwards. */
static void use_processes(void)
{
    int fd = open("shared.bin", O_CREAT | O_RDWR, 0600);
    pid_t child;

    check(fd >= 0 && write(fd, buffer, 6000) == 6000 && lseek(fd, 1000, SEEK_SET) == 1000, "shared.bin");
    child = fork();
    if (!child) {
        check(read(fd, buffer, 500) == 500 && !close(fd), "inherited");
        make_file("of-child", 8000);
        _exit(0);
    }
    check(waitpid(child, NULL, 0) == child && read(fd, buffer, 400) == 400 && !close(fd), "shared.bin");
    fd = open("of-child", O_RDONLY);
    check(fd >= 0 && read(fd, buffer, sizeof buffer) == 8000 && !close(fd), "of-child");
}

static void slow(void)
{
    make_file("first.txt", 100);
    for (int i = 0; i < 10; i++) {
        char name[32];

        usleep(300000);
        snprintf(name, sizeof name, "later-%d", i);
        check(!mkdir(name, 0755), name);
        snprintf(name, sizeof name, "later-%d/file", i);
        make_file(name, 100);
        snprintf(name, sizeof name, "plain-%d", i);
        make_file(name, 100);
    }
}

static void inherit(void)
{
    int fd = open("inherited", O_CREAT | O_WRONLY | O_APPEND, 0600);

    check(fd >= 0 && !fchmodat(AT_FDCWD, "inherited", 0640, 0), "inherited");
    for (int i = 0; i < 4; i++)
        if (!fork()) {
            FILE *stream = fdopen(fd, "a");

            for (int k = 0; k < 300; k++)
                check(stream && fprintf(stream, "%07d\n", k) == 8, "fprintf");
            exit(fclose(stream));
        }
    while (wait(NULL) > 0)
        ;
    check(!close(fd), "close");
}

static void hole(void)
{
    int fd = open("hole.bin", O_RDONLY);

    check(fd >= 0 && pread(fd, buffer, 4096, ((off_t)1 << 42)) == 4096 && !close(fd), "hole.bin");
}

static long each;

static void *many(void *name)
{
    int fd = open(name, O_CREAT | O_RDWR | O_TRUNC, 0600);

    for (long i = 0; i < each; i++) {
        check(pwrite(fd, buffer, 64, i % 1000 * 64) == 64, name);
        check(pread(fd, buffer, 64, i % 1000 * 64) == 64, name);
    }
    close(fd);
    return NULL;
}

static void *be_one_of_many(void *name)
{
    for (int i = 0; i < 50; i++) {
        int fd = open(name, O_CREAT | O_RDWR | O_TRUNC, 0600);

        check(fd >= 0 && write(fd, buffer, 300) == 300 && pread(fd, buffer, 200, 100) == 200, name);
        check(write(fd, buffer, 100) == 100 && pread(fd, buffer, 400, 0) == 400 && !close(fd), name);
    }
    return NULL;
}

static void crowd(void)
{
    static char names[60][16];
    pthread_t threads[60];

    for (int i = 0; i < 60; i++) {
        snprintf(names[i], sizeof names[i], "of-%d", i);
        check(!pthread_create(&threads[i], NULL, be_one_of_many, names[i]), "pthread_create");
    }
    for (int i = 0; i < 60; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    pthread_t thread;

    check(argc > 2 && !chdir(argv[1]), "chdir");
    if (!strcmp(argv[2], "all")) {
        use_descriptors();
        use_streams();
        use_names();
        use_threads();
        use_processes();
    } else if (!strcmp(argv[2], "slow")) {
        slow();
    } else if (!strcmp(argv[2], "inherit")) {
        inherit();
    } else if (!strcmp(argv[2], "hole")) {
        hole();
    } else if (!strcmp(argv[2], "crowd")) {
        crowd();
    } else {
        each = argc > 3 ? atol(argv[3]) : 1000;
        check(!pthread_create(&thread, NULL, many, (char[]){"of-thread"}), "pthread_create");
        many((char[]){"of-main"});
        pthread_join(thread, NULL);
    }
    return 0;
}
