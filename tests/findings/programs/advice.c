/* SPDX-License-Identifier: MIT */
/* advice CASE before|after: a program with trouble, and the same with the cure that dftrace advises. Both do the same
 * work; "data" is there, and has 8 MiB. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECORD 200
#define TIMES  30000L
#define ROOM   (1 << 20)
#define BLOCK  4096L
#define PLACES 2000L

static int is_cured;
static char record[RECORD] = "a record";
static char room[ROOM];

/* Each line by a system call, or 1 MiB. */
static void stream_out(void)
{
    FILE *out = fopen("out", "w");

    setvbuf(out, is_cured ? room : NULL, is_cured ? _IOFBF : _IOLBF, ROOM);
    for (long i = 0; i < TIMES; i++) {
        record[RECORD - 1] = '\n';
        fwrite(record, RECORD, 1, out);
    }
    fclose(out);
}

/* Records at a place of their own each: here a larger buffer harms. A seek fills the buffer with the block of its place,
 * and each record ends in the next block: so the reads make a system call each, too, on a machine of any speed. */
static void stream_seeks(void)
{
    FILE *in = is_cured ? NULL : fopen("data", "r");
    int fd = is_cured ? open("data", O_RDONLY) : -1;

    for (long i = 0; i < TIMES; i++) {
        long at = (1 + i * 7919 % PLACES) * BLOCK - RECORD / 2;

        if (in)
            fseek(in, at, SEEK_SET);
        (void)!(in ? (ssize_t)fread(record, RECORD, 1, in) : pread(fd, record, RECORD, at));
    }
    if (in)
        fclose(in);
    else
        close(fd);
}

static void one_byte(void)
{
    FILE *in = fopen("data", "r");

    setvbuf(in, NULL, is_cured ? _IOFBF : _IONBF, BUFSIZ);
    for (long i = 0; i < 10 * TIMES; i++)
        getc(in);
    fclose(in);
}

static void small_reads(void)
{
    size_t size = is_cured ? 65536 : RECORD;
    int fd = open("data", O_RDONLY);

    while (read(fd, room, size) > 0)
        ;
    close(fd);
}

static void small_writes(void)
{
    size_t size = is_cured ? 65536 : RECORD, left = TIMES * RECORD;
    int fd = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0644);

    for (; left; left -= size < left ? size : left)
        (void)!write(fd, room, size < left ? size : left);
    close(fd);
}

static void flush(void)
{
    FILE *out = fopen("out", "w");

    for (long i = 0; i < TIMES; i++) {
        fwrite(record, RECORD, 1, out);
        if (!is_cured)
            fflush(out);
    }
    fclose(out);
}

static void reopened(void)
{
    int fd = -1;

    for (long i = 0; i < TIMES / 10; i++) {
        if (fd < 0)
            fd = open("settings", O_RDONLY | O_CREAT, 0644);
        (void)!pread(fd, record, 8, 0);
        if (!is_cured) {
            close(fd);
            fd = -1;
        }
    }
    if (is_cured)
        close(fd);
}

static void missing(void)
{
    struct stat status;

    for (long i = 0; i < TIMES && !(i && is_cured); i++)
        stat("no/such/file", &status);
}

/* A journal that is made durable record by record, or once. */
static void durable(void)
{
    int fd = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0644);

    for (long i = 0; i < TIMES / 100; i++) {
        (void)!write(fd, record, RECORD);
        if (!is_cured)
            fsync(fd);
    }
    fsync(fd);
    close(fd);
}

static void ask_again(void)
{
    struct stat status;

    for (long i = 0; i < TIMES && !(i && is_cured); i++)
        stat("settings", &status);
}

/* A file for each record, or one with all. */
static void small_files(void)
{
    long files = TIMES / 15;
    char name[32];
    int fd;

    for (long i = 0; i < files; i++) {
        memcpy(room + i * RECORD, record, RECORD);
        if (is_cured)
            continue;
        snprintf(name, sizeof name, "out_%ld", i);
        fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        (void)!write(fd, record, RECORD);
        close(fd);
    }
    if (!is_cured)
        return;
    fd = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    (void)!write(fd, room, (size_t)files * RECORD);
    close(fd);
}

/* A state that is replaced at each step, or at each hundredth. */
static void saves(void)
{
    for (long i = 0; i < TIMES / 100; i++) {
        int fd;

        if (is_cured && i % 100)
            continue;
        fd = open("state.new", O_WRONLY | O_CREAT | O_TRUNC, 0644);
        (void)!write(fd, room, 65536);
        close(fd);
        rename("state.new", "state");
    }
}

/* All of the data for each of eight steps, or once for all. */
static void reread(void)
{
    int fd = open("data", O_RDONLY);

    for (int step = 0; step < (is_cured ? 1 : 8); step++) {
        lseek(fd, 0, SEEK_SET);
        while (read(fd, room, sizeof room) > 0)
            ;
    }
    close(fd);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"stream", stream_out},
             {"seeks", stream_seeks},
             {"one-byte", one_byte},
             {"small-reads", small_reads},
             {"small-writes", small_writes},
             {"flush", flush},
             {"reopened", reopened},
             {"missing", missing},
             {"fsync", durable},
             {"metadata", ask_again},
             {"small-files", small_files},
             {"saves", saves},
             {"reread", reread}};

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    is_cured = !strcmp(argv[2], "after");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(argv[1], cases[i].name)) {
            cases[i].run();
            return 0;
        }
    return 2;
}
