/* SPDX-License-Identifier: MIT */
/* Characters and lines through STDIO in all ways that are kept in runs; counts its own calls in
 * memory that outlives it.
 *
 * usage: runs MODE DIRECTORY    writes DIRECTORY/counts: pairs of 64-bit numbers (calls of getc, of putc), one a
 * thread */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define BYTES   100000
#define ENOUGH  20000 /* calls of each thread before the process ends */

static struct {
    _Atomic long gets, puts;
} * counts;
static const char *directory;
static FILE *other;

static FILE *file(const char *name, int number, const char *mode)
{
    char path[4096];
    FILE *stream;

    snprintf(path, sizeof path, "%s/%s%d", directory, name, number);
    stream = fopen(path, mode);
    if (!stream) {
        perror(path);
        exit(99);
    }
    return stream;
}

static void fill(int number)
{
    FILE *stream = file("in", number, "w");
    char line[101];

    memset(line, 'x', 99);
    line[99] = '\n';
    line[100] = 0;
    for (int i = 0; i < BYTES / 100; i++)
        fwrite(line, 100, 1, stream);
    fclose(stream);
}

/* Two runs are open at a time. */
static void copy_characters(int number, int forever)
{
    FILE *in = file("in", number, "r"), *out = file("out", number, "w");
    int c;

    do {
        while ((c = fgetc(in)) != EOF) {
            counts[number].gets++;
            fputc(c, out);
            counts[number].puts++;
        }
        counts[number].gets++;
        if (forever)
            rewind(in);
    } while (forever);
    fclose(in);
    fclose(out);
}

static void copy_lines(void)
{
    FILE *in = file("in", 0, "r"), *out = file("out", 0, "w");
    char line[200];

    for (int i = 0; i < 500 && fgets(line, sizeof line, in); i++) {
        fputs(line, out);
        counts[0].gets++;
        counts[0].puts++;
    }
    fclose(in);
    fclose(out);
}

/* Lines with NULs in them, longer than the buffer, and a last one without an end. */
static void odd_lines(void)
{
    FILE *out = file("in", 1, "w"), *in;
    static char long_line[9000], line[10000];

    memset(long_line, 'y', sizeof long_line);
    for (int i = 0; i < 200; i++)
        fwrite("ab\0cd\n", 6, 1, out);
    fwrite(long_line, sizeof long_line, 1, out);
    fwrite("\nend", 4, 1, out);
    fclose(out);
    in = file("in", 1, "r");
    while (fgets(line, sizeof line, in))
        counts[0].gets++;
    counts[0].gets++;
    fclose(in);
}

static void *forever(void *number)
{
    copy_characters((int)(long)number, 1);
    return NULL;
}

static void threads(int how)
{
    pthread_t ids[THREADS];

    for (long i = 0; i < THREADS; i++)
        pthread_create(&ids[i], NULL, forever, (void *)i);
    for (int i = 0; i < THREADS; i++)
        while (counts[i].puts < ENOUGH)
            usleep(100);
    if (how == SIGKILL)
        kill(getpid(), how);
    exit(0);
}

static void fork_within(void)
{
    FILE *in = file("in", 0, "r");
    int status;

    for (int i = 0; i < 1000; i++)
        counts[0].gets += getc(in) != EOF;
    if (fork() == 0) {
        for (int i = 0; i < 300; i++)
            counts[1].gets += getc(in) != EOF;
        _exit(0);
    }
    wait(&status);
    for (int i = 0; i < 500; i++)
        counts[0].gets += getc(in) != EOF;
    fclose(in);
}

static void handler(int signal)
{
    (void)signal;
    for (int i = 0; i < 3; i++)
        if (getc(other) != EOF)
            counts[1].gets++;
        else
            rewind(other);
}

static void within_signals(void)
{
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    static char buffer[4096]; /* one that the handler allocated could meet the main program within malloc */

    other = file("in", 1, "r");
    setvbuf(other, buffer, _IOFBF, sizeof buffer);
    signal(SIGALRM, handler);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 30; i++)
        copy_characters(0, 0);
    setitimer(ITIMER_REAL, &never, NULL);
}

int main(int argc, char **argv)
{
    char path[4096];
    int fd;

    if (argc < 3)
        return 2;
    directory = argv[2];
    snprintf(path, sizeof path, "%s/counts", directory);
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || ftruncate(fd, sizeof *counts * THREADS))
        return 98;
    counts = mmap(NULL, sizeof *counts * THREADS, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    for (int i = 0; i < THREADS; i++)
        fill(i);
    if (!strcmp(argv[1], "characters"))
        copy_characters(0, 0);
    else if (!strcmp(argv[1], "lines"))
        copy_lines();
    else if (!strcmp(argv[1], "odd"))
        odd_lines();
    else if (!strcmp(argv[1], "exit"))
        threads(0);
    else if (!strcmp(argv[1], "kill"))
        threads(SIGKILL);
    else if (!strcmp(argv[1], "fork"))
        fork_within();
    else if (!strcmp(argv[1], "signals"))
        within_signals();
    else
        return 2;
    return 0;
}
