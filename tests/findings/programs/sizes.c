/* SPDX-License-Identifier: MIT */
/* Small requests, and their careful siblings: sizes WHAT [NUMBER...], in the working directory.
 * `data` has 8 MiB. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYTES (8L << 20)

static char data[1 << 20];

/* reads SIZE TIMES BLOCK: TIMES requests in order; then the rest of the file in blocks, if BLOCK is
 * not 0. */
static void reads(long size, long times, long block)
{
    int fd = open("data", O_RDONLY);

    for (long i = 0; i < times; i++)
        (void)!read(fd, data, (size_t)size);
    while (block && read(fd, data, (size_t)block) > 0)
        ;
    close(fd);
}

/* again SIZE TIMES FILES SYNC OTHERS: reads TIMES times all of FILES files of 3 KB, each opened
 * anew, with an fsync if SYNC is not 0; of no files: all of `data`. OTHERS processes live beside
 * it. */
static void read_again(long size, long times, long files, long sync, long others)
{
    char path[32];

    for (; others > 0; others--)
        if (!fork()) {
            close(open("data", O_RDONLY));
            exit(0);
        }
    for (long i = 0; i < times; i++)
        for (long file = 0; file < (files ? files : 1); file++) {
            int fd;

            snprintf(path, sizeof path, files ? "again_%ld" : "data", file);
            fd = open(path, files ? O_RDWR | O_CREAT : O_RDONLY, 0644);
            if (files && (!i || sync))
                (void)!pwrite(fd, data, 3000, 0);
            if (sync)
                fsync(fd);
            while (read(fd, data, (size_t)size) > 0)
                ;
            close(fd);
        }
}

/* early TIMES: looks for files that are made at last. */
static void look_too_early(long times)
{
    struct stat st;
    char path[32];

    for (long i = 0; i < times + 50; i++) {
        snprintf(path, sizeof path, "early_%ld", i % 50);
        if (i < times)
            stat(path, &st);
        else
            close(open(path, O_WRONLY | O_CREAT, 0644));
    }
}

/* durable TIMES: writes of one byte, each of which waits for the device. */
static void writes_that_wait(long times)
{
    int fd = open("durable", O_WRONLY | O_CREAT | O_TRUNC | O_SYNC, 0644);

    while (times--)
        (void)!write(fd, data, 1);
    close(fd);
}

/* random SIZE TIMES: here and there. */
static void read_at_random(long size, long times)
{
    int fd = open("data", O_RDONLY);
    unsigned at = 1;

    for (long i = 0; i < times; i++) {
        at = at * 1103515245u + 12345u;
        (void)!pread(fd, data, (size_t)size, (long)(at >> 4) % (BYTES - size));
    }
    close(fd);
}

/* writes SIZE TIMES SYNC FILES: round the files, fsync behind every SYNC writes of one, if that is
 * not 0. */
static void writes(long size, long times, long sync, long files)
{
    char path[32];

    for (long file = 0; file < files; file++) {
        int fd;

        snprintf(path, sizeof path, "out_%c", (int)('a' + file));
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        for (long i = 1; i <= times; i++) {
            (void)!write(fd, data, (size_t)size);
            if (sync && i % sync == 0)
                fsync(fd);
        }
        close(fd);
    }
}

/* characters BUFFER; strings SIZE BUFFER: of a stream, with a buffer of so many bytes; 0: none. */
static void read_stream(long size, long buffer)
{
    FILE *in = fopen("data", "r");
    long left = size == 1 ? 300000 : 30000;

    setvbuf(in, NULL, buffer ? _IOFBF : _IONBF, (size_t)buffer);
    while (left-- && (size == 1 ? getc(in) != EOF : fread(data, 1, (size_t)size, in) > 0))
        ;
    fclose(in);
}

/* lines TIMES FLUSH: fflush behind every FLUSH lines, if that is not 0. */
static void lines(long times, long flush)
{
    FILE *out = fopen("lines", "w");

    for (long i = 1; i <= times; i++) {
        fputs("one more line of some eighty characters, as a program writes it into its log\n", out);
        if (flush && i % flush == 0)
            fflush(out);
    }
    fclose(out);
}

/* formatted TIMES LINES: takes long to compute; a flush behind each line if LINES is not 0. */
static void formatted(long times, long by_lines)
{
    FILE *out = fopen("formatted", "w");

    setvbuf(out, NULL, by_lines ? _IOLBF : _IOFBF, 4096);
    for (long i = 0; i < times; i++)
        fprintf(out, "%.300f\n", (double)i / 7);
    fclose(out);
}

/* full TIMES: the file may not grow, so writes fail with EFBIG. */
static void fail(long times)
{
    const struct rlimit limit = {4096, 4096};

    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    writes(4096, times, 0, 1);
}

int main(int argc, char **argv)
{
    long n[5] = {0};

    for (int i = 2; i < argc && i < 7; i++)
        n[i - 2] = atol(argv[i]);
    if (argc < 2)
        return 1;
    if (!strcmp(argv[1], "reads"))
        reads(n[0], n[1], n[2]);
    else if (!strcmp(argv[1], "again"))
        read_again(n[0], n[1], n[2], n[3], n[4]);
    else if (!strcmp(argv[1], "early"))
        look_too_early(n[0]);
    else if (!strcmp(argv[1], "durable"))
        writes_that_wait(n[0]);
    else if (!strcmp(argv[1], "random"))
        read_at_random(n[0], n[1]);
    else if (!strcmp(argv[1], "writes"))
        writes(n[0], n[1], n[2], n[3] ? n[3] : 1);
    else if (!strcmp(argv[1], "stream"))
        read_stream(n[0], n[1]);
    else if (!strcmp(argv[1], "lines"))
        lines(n[0], n[1]);
    else if (!strcmp(argv[1], "formatted"))
        formatted(n[0], n[1]);
    else if (!strcmp(argv[1], "fail"))
        fail(n[0]);
    return 0;
}
