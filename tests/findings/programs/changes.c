/* SPDX-License-Identifier: MIT */
/* Files that are made, changed and removed: changes WHAT NUMBER, in the current directory. A rank has
 * its number in the environment. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LARGE (2 << 20)

static char data[LARGE];
static char path[256], other[256];

static const char *named(char *name, const char *format, int a, int b)
{
    snprintf(name, sizeof path, format, a, b);
    return name;
}

static void put(const char *name, size_t size)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    if (write(fd, data, size) != (ssize_t)size)
        exit(1);
    close(fd);
}

/* Most calls are seeks; the time is that of removing. */
static void remove_large(int number)
{
    for (int i = 0; i < number; i++) {
        int fd;

        put(named(path, "out/f%d", i, 0), LARGE);
        fd = open(path, O_RDONLY);
        for (int n = 0; n < 1300; n++)
            lseek(fd, n, SEEK_SET);
        close(fd);
    }
    for (int i = 0; i < number; i++)
        unlink(named(path, "out/f%d", i, 0));
}

static void rename_over(int number)
{
    for (int i = 0; i < number; i++) {
        put(named(path, "out/new%d", i, 0), LARGE);
        rename(path, "out/data");
    }
}

static void cut(int number)
{
    int fd = open("out/data", O_RDWR | O_CREAT, 0644);

    for (int i = 0; i < number; i++) {
        if (pwrite(fd, data, LARGE, 0) != LARGE || ftruncate(fd, 0))
            exit(1);
    }
    close(fd);
}

static void grow(int number)
{
    int fd = open("out/data", O_RDWR | O_CREAT, 0644);

    for (int i = 1; i <= number; i++)
        if (ftruncate(fd, (off_t)LARGE * i))
            exit(1);
    close(fd);
}

static void save(int number, int same)
{
    for (int i = 0; i < number; i++) {
        put(named(path, same ? "out/state.tmp" : "out/state.%d.tmp", i, 0), 2000);
        rename(path, "out/state.json");
    }
}

static void rename_apart(int number)
{
    for (int i = 0; i < number; i++) {
        put(named(path, "out/f%d.tmp", i, 0), 2000);
        rename(path, named(other, "out/f%d.txt", i, 0));
    }
}

static void copy(const char *from, const char *to)
{
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ssize_t n;

    while ((n = read(in, data, sizeof data / 8)) > 0)
        if (write(out, data, (size_t)n) != n)
            exit(1);
    close(in);
    close(out);
}

static void stages(void)
{
    copy("all.bin", "out/stage1.tmp");
    copy("out/stage1.tmp", "out/stage2.tmp");
    unlink("out/stage1.tmp");
    copy("out/stage2.tmp", "out/result.bin");
    unlink("out/stage2.tmp");
}

/* A checkpoint is read and removed; the next one, which is as large, comes much later. */
static void restart(void)
{
    const struct timespec pause = {0, 500000000};

    copy("all.bin", "out/checkpoint1");
    copy("out/checkpoint1", "/dev/null");
    unlink("out/checkpoint1");
    nanosleep(&pause, NULL);
    put("out/checkpoint2", LARGE);
}

/* All files of the run are as large, and none stays. */
static void benchmark(int number)
{
    for (int i = 0; i < number; i++) {
        put(named(path, "out/f%d", i, 0), LARGE);
        copy(path, "/dev/null");
        unlink(path);
    }
}

static void phases(int number)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");

    for (int i = 0; i < number; i++)
        put(named(path, "out/rank.%d.%d", rank ? atoi(rank) : 0, i), 128 << 10);
}

static void list(int number)
{
    for (int i = 0; i < number; i++) {
        DIR *directory = opendir("many");

        while (readdir(directory))
            ;
        closedir(directory);
    }
}

/* A table is read whole for each record. */
static void records(int number)
{
    for (int i = 0; i < number; i++)
        copy("all.bin", "/dev/null");
}

/* The head of a table is read again and again, while it is open. */
static void heads(int number)
{
    for (int i = 0; i < 2; i++) {
        int fd = open("all.bin", O_RDONLY);

        for (int n = 0; n < number; n++)
            (void)!pread(fd, data, 64 << 10, 0);
        close(fd);
    }
}

/* Each file is asked for before it is made. */
static void ask(int number)
{
    struct stat st;

    for (int i = 0; i < number; i++) {
        named(path, "out/f%d", i, 0);
        for (int n = 0; n < 2; n++)
            stat(path, &st);
        close(open(path, O_WRONLY | O_CREAT, 0644));
    }
}

/* Nothing is there; most is asked for in one directory. */
static void miss(int number)
{
    struct stat st;

    for (int i = 0; i < number; i++)
        stat(named(path, i % 4 ? "out/none%d" : "many/none%d", i, 0), &st);
}

static void make(int number)
{
    for (int i = 0; i < number; i++)
        close(open(named(path, "out/f%d", i, 0), O_WRONLY | O_CREAT, 0644));
}

static void remove_all(int number)
{
    for (int i = 0; i < number; i++)
        unlink(named(path, "many/f_%d.txt", i, 0));
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int number = argc > 2 ? atoi(argv[2]) : 1;
    const struct {
        const char *name;
        void (*run)(int number);
    } runs[] = {{"remove_large", remove_large},
                {"rename_over", rename_over},
                {"cut", cut},
                {"grow", grow},
                {"phases", phases},
                {"benchmark", benchmark},
                {"list", list},
                {"ask", ask},
                {"make", make},
                {"remove_all", remove_all},
                {"rename_apart", rename_apart},
                {"records", records},
                {"heads", heads},
                {"miss", miss}};

    memset(data, 'x', sizeof data);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        if (!strcmp(what, runs[i].name))
            runs[i].run(number);
    if (!strcmp(what, "save") || !strcmp(what, "save_same"))
        save(number, !strcmp(what, "save_same"));
    else if (!strcmp(what, "stages"))
        stages();
    else if (!strcmp(what, "restart"))
        restart();
    return 0;
}
