/* SPDX-License-Identifier: MIT */
/* Several troubles at the same files: mixed DIRECTORY prepare, then mixed DIRECTORY TROUBLE. Each
 * has one finding, and no time is counted twice. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES 300
#define MIB   (1 << 20)

static char data[MIB];

static int open_file(const char *format, int number, int flags)
{
    char path[64];

    snprintf(path, sizeof path, format, number);
    return open(path, flags, 0644);
}

static void write_file(int fd, int calls, size_t bytes, int sync)
{
    for (int i = 0; i < calls; i++)
        (void)!write(fd, data, bytes);
    if (sync)
        fsync(fd);
    close(fd);
}

static void read_files(int times, int calls, size_t bytes)
{
    for (int i = 0; i < FILES * times; i++) {
        int fd = open_file("m_%d.dat", i % FILES, O_RDONLY);

        for (int k = 0; k < calls; k++)
            (void)!read(fd, data, bytes);
        close(fd);
    }
}

static void prepare(void)
{
    write_file(open_file("big", 0, O_CREAT | O_WRONLY | O_TRUNC), 8, MIB, 0);
    for (int i = 0; i < FILES; i++)
        write_file(open_file("m_%d.dat", i, O_CREAT | O_WRONLY | O_TRUNC), 1, 4000, 0);
}

static void reread(void)
{
    int fd = open("big", O_RDONLY);

    for (int k = 0; k < 10; k++) {
        lseek(fd, 0, SEEK_SET);
        for (int i = 0; i < 4000; i++)
            (void)!read(fd, data, 200);
    }
    close(fd);
}

static void sync_files(void)
{
    for (int i = 0; i < FILES; i++)
        write_file(open_file("n_%d.dat", i, O_CREAT | O_WRONLY), 3, 250, 1);
}

/* Small files through streams that are flushed. */
static void streams(void)
{
    char path[64];

    for (int i = 0; i < FILES; i++) {
        FILE *file;

        snprintf(path, sizeof path, "s_%d.txt", i);
        file = fopen(path, "w");
        fprintf(file, "hello\n");
        fflush(file);
        fclose(file);
    }
}

static void flush(void)
{
    FILE *file = fopen("log", "w");

    for (int i = 0; i < 5000; i++) {
        fprintf(file, "hello %d\n", i);
        fflush(file);
    }
    fclose(file);
}

static void ask(const char *format, int names, int times)
{
    char path[64];
    struct stat st;

    for (int i = 0; i < names * times; i++) {
        snprintf(path, sizeof path, format, i % names);
        stat(path, &st);
    }
}

/* Files that are not there are asked for, and made in the end. */
static void later(void)
{
    ask("later_%d", 50, 400);
    for (int i = 0; i < 50; i++)
        close(open_file("later_%d", i, O_CREAT | O_WRONLY));
}

/* One of eight processes opens each file again and again. */
static void one_of_eight(void)
{
    for (int w = 0; w < 8; w++)
        if (!fork()) {
            if (!w)
                read_files(30, 1, 100);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
}

int main(int argc, char **argv)
{
    const char *trouble = argc > 2 ? argv[2] : "";

    if (argc < 3 || chdir(argv[1]))
        return 1;
    if (!strcmp(trouble, "prepare"))
        prepare();
    else if (!strcmp(trouble, "reread"))
        reread();
    else if (!strcmp(trouble, "reopen"))
        read_files(20, 12, 250);
    else if (!strcmp(trouble, "twelve"))
        read_files(4, 12, 250);
    else if (!strcmp(trouble, "rows"))
        read_files(1, 40, 100);
    else if (!strcmp(trouble, "sync"))
        sync_files();
    else if (!strcmp(trouble, "streams"))
        streams();
    else if (!strcmp(trouble, "flush"))
        flush();
    else if (!strcmp(trouble, "stats"))
        ask("m_%d.dat", FILES, 60);
    else if (!strcmp(trouble, "later"))
        later();
    else if (!strcmp(trouble, "one_of_eight"))
        one_of_eight();
    return 0;
}
