/* SPDX-License-Identifier: MIT */
/* Characters that inlined code moves, on streams whose offset nobody knows: inherited, appending, shared,
 * reopened. Standard input has 20000 bytes. The test knows what each mode does.
 *
 * usage: unlocked MODE */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <locale.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

static void put(FILE *stream, int n)
{
    for (int i = 0; i < n; i++)
        putc_unlocked('a' + i % 26, stream);
}

static int get(FILE *stream, int n)
{
    int got = 0;

    while (got < n && getc_unlocked(stream) != EOF)
        got++;
    return got;
}

static void copy(void)
{
    int c;

    while ((c = getc_unlocked(stdin)) != EOF)
        putc_unlocked(c, stdout);
}

static void die(void)
{
    copy();
    kill(getpid(), SIGKILL);
}

static void leave(void)
{
    put(stdout, 100);
    _exit(0);
}

static void append(void)
{
    FILE *stream = fopen("log", "a"), *both = fopen("both", "a+");

    put(stream, 10);
    fprintf(stream, "%d\n", 123);
    put(stream, 5000);
    fclose(stream);
    put(both, 3000);
    fputs("text", both);
    rewind(both);
    get(both, 1000);
    fseek(both, 0, SEEK_END);
    put(both, 7);
    fclose(both);
}

static void printed(void)
{
    FILE *stream = fopen("printed", "w");

    fputs("text", stream);
    put(stream, 20);
    fputs("text", stream);
    put(stream, 20);
    fflush(NULL);
    put(stream, 20);
    setvbuf(stdout, NULL, _IOFBF, 64);
    puts("more");
    put(stdout, 200);
}

static void turned(void)
{
    FILE *stream = fopen("turned", "w+");

    put(stream, 6000);
    rewind(stream);
    get(stream, 5000);
    ungetc(getc_unlocked(stream), stream);
    get(stream, 10);
    fseek(stream, 0, SEEK_CUR);
    put(stream, 11);
    fseek(stream, 1, SEEK_SET);
    get(stream, 12);
}

static void reopened(void)
{
    int saved = dup(1), fd = open("second", O_WRONLY | O_CREAT | O_TRUNC, 0644);

    put(stdout, 100);
    fflush(stdout);
    dup2(fd, 1);
    put(stdout, 200);
    fflush(stdout);
    put(stdout, 1);
    close(fd);
    fflush(stdout);
    close(1);
    if (open("third", O_WRONLY | O_CREAT | O_APPEND, 0644) != 1)
        exit(99);
    put(stdout, 300);
    fflush(stdout);
    dup2(saved, 1);
    put(stdout, 400);
    freopen("fourth", "w", stdout);
    put(stdout, 500);
    stdin = freopen("fourth", "r", stdin);
    fclose(stdout);
    get(stdin, 1000);
}

static void open_at(int fd, const char *path)
{
    if (open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644) != fd)
        exit(99);
}

static void ranged(void)
{
    put(stdout, 100);
    fflush(stdout);
    put(stdout, 10);
    close_range(1, 1, 0);
    open_at(1, "second");
    put(stdout, 300);
    fflush(stdout);
    put(stdout, 5);
    closefrom(1);
    open_at(1, "third");
    put(stdout, 7);
}

static void forked(void)
{
    put(stdout, 100);
    get(stdin, 5000);
    fflush(stdout);
    put(stdout, 10);
    if (!fork()) {
        get(stdin, 50);
        put(stdout, 1000);
        fclose(stdout);
        exit(0);
    }
    wait(NULL);
    get(stdin, 5);
    put(stdout, 10000);
}

static void twice(void)
{
    FILE *first = fdopen(open("twice", O_RDWR | O_CREAT | O_TRUNC, 0644), "w"), *second = fdopen(fileno(first), "r"),
         *third = fdopen(dup(fileno(first)), "w");

    put(first, 3000);
    fputs("text", third);
    put(first, 3000);
    put(third, 100);
    fputs("text", first);
    fflush(first);
    lseek(fileno(first), 0, SEEK_SET);
    get(second, 1500);
    put(third, 17);
    fflush(NULL);
    get(second, 10);
    fflush(third);
}

static void *one(void *turns)
{
    for (int i = 0; i < *(int *)turns; i++) {
        flockfile(stdin);
        int c = getc_unlocked(stdin);
        funlockfile(stdin);
        flockfile(stdout);
        if (c != EOF)
            putc_unlocked(c, stdout);
        funlockfile(stdout);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t others[4];
    int turns = 5000;

    for (int i = 0; i < 4; i++)
        pthread_create(&others[i], NULL, one, &turns);
    for (int i = 0; i < 4; i++)
        pthread_join(others[i], NULL);
    get(stdin, 1);
}

static void *print_lines(void *stream)
{
    for (int i = 0; i < 20000; i++)
        fprintf(stream, "%07d\n", i);
    return NULL;
}

static void *print_and_flush(void *stream)
{
    for (int i = 0; i < 20000; i++) {
        fprintf(stream, "%07d\n", i);
        if (i % 5 == 0)
            fflush(stream);
    }
    return NULL;
}

/* Nothing inlined at all, where several threads print and flush at once. */
static void shared(void)
{
    FILE *stream = fopen("shared", "a");
    pthread_t others[4];

    for (int i = 0; i < 4; i++)
        pthread_create(&others[i], NULL, i ? print_and_flush : print_lines, stream);
    for (int i = 0; i < 4; i++)
        pthread_join(others[i], NULL);
    fclose(stream);
}

/* Calls that do not say how many bytes they moved. */
static void measured(void)
{
    FILE *wide = fopen("wide", "a"), *words = fopen("words", "a");
    wchar_t text[1000];
    int number;

    setlocale(LC_ALL, "C.UTF-8");
    for (int i = 0; i < 3000; i++) {
        putw(i, words);
        putc_unlocked('\n', words);
    }
    fclose(words);
    for (int i = 0; i < 1000; i++)
        fwprintf(wide, L"%d h\u00e9\u20ac\n", 1000 + i);
    fclose(wide);
    freopen("wide", "r", stdin);
    dup2(open("wide", O_RDONLY), 0);
    stdin = fdopen(dup(0), "r");
    for (int i = 0; i < 1000; i++)
        if (wscanf(L"%d %ls\n", &number, text) != 2)
            exit(99);
}

/* Calls that flush what inlined code has put into the buffer, of a stream that was read before. */
static void flushed(void)
{
    FILE *stream = fopen("flushed", "w+");
    char text[2001];

    memset(text, 'y', 2000);
    text[2000] = 0;
    put(stream, 10000);
    rewind(stream);
    get(stream, 1);
    fseek(stream, 100, SEEK_SET);
    put(stream, 3000);
    fprintf(stream, "%2000d", 1);
    put(stream, 3000);
    fputs(text, stream);
    fclose(stream);
}

/* Reads of files that are open for appending. */
static void reread(void)
{
    FILE *stream = fopen("reread", "a+");
    char text[100];
    int number;

    for (int i = 1000; i < 3000; i++)
        fprintf(stream, "%d\n", i);
    rewind(stream);
    fgets(text, 100, stream);
    get(stream, 300);
    fread(text, 1, 10, stream);
    get(stream, 4088 - 310);
    fscanf(stream, "%d", &number);
    fgets(text, 100, stream);
    fclose(stream);
}

/* Items longer than the buffer, before calls of each kind. */
static void long_items(void)
{
    FILE *stream = fopen("long_items", "w+");
    char text[9000];

    for (int i = 0; i < 10; i++)
        fprintf(stream, "%04999d\n", i);
    rewind(stream);
    fgetc(stream);
    fscanf(stream, "%8999[^-]", text);
    get(stream, 10);
    fgets(text, 20, stream);
    fscanf(stream, "%100[^-]", text);
    fscanf(stream, "%5000[^-]", text);
    get(stream, 1);
    fscanf(stream, "%5000[^-]", text);
    fscanf(stream, "%4096[^-]", text);
    fgetc(stream);
    fscanf(stream, "%100[^-]", text);
    fscanf(stream, "%8192[^-]", text);
    ftell(stream);
    fread(text, 1, 10, stream);
    fscanf(stream, "%100[^-]", text);
    fscanf(stream, "%100[^-]", text);
    fscanf(stream, "%8192[^-]", text);
}

/* Calls without a size that are no bursts. */
static void vforked(void)
{
    FILE *stream = fopen("vforked", "w");

    if (!vfork()) {
        fprintf(stream, "%d\n", 1);
        fputs("text", stream);
        _exit(0);
    }
}

/* Streams and directories whose memory is gone once they are closed, though their descriptors are not theirs. */
static void freed(void)
{
    FILE *stream;
    DIR *directory;
    int fds[2];

    mallopt(M_MMAP_THRESHOLD, 256);
    directory = opendir(".");
    close(dirfd(directory));
    closedir(directory);
    stream = fopen("in", "r");
    fgetc(stream);
    close(fileno(stream));
    fclose(stream);
    stream = fopen("in", "r");
    fgetc(stream);
    get(stream, 1);
    close(fileno(stream));
    if (pipe(fds))
        exit(99);
    fclose(stream);
    open("other", O_RDWR | O_CREAT, 0644);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"copy", copy},       {"die", die},         {"leave", leave},           {"append", append},
                 {"printed", printed}, {"turned", turned},   {"reopened", reopened},     {"forked", forked},
                 {"twice", twice},     {"threads", threads}, {"measured", measured},     {"flushed", flushed},
                 {"reread", reread},   {"freed", freed},     {"long_items", long_items}, {"ranged", ranged},
                 {"vforked", vforked}, {"shared", shared}};

    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
        if (!strcmp(modes[i].name, argv[1])) {
            modes[i].run();
            return 0;
        }
    return 2;
}
