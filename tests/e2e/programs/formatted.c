/* SPDX-License-Identifier: MIT */
/* Calls that are given no size: formatted text, lines of any length. Works in the current directory. */
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include <wchar.h>

static FILE *on(const char *name, const char *mode)
{
    FILE *stream = fopen(name, mode);

    if (!stream)
        exit(1);
    return stream;
}

static void check(int good)
{
    if (!good)
        exit(2);
}

static void narrow(void)
{
    FILE *stream = on("narrow", "w");
    int value;

    for (int i = 0; i < 10000; i++)
        check(fprintf(stream, "%08d some text in a line 3\n", i) == 31);
    fclose(stream);
    stream = on("narrow", "r");
    for (int i = 0; i < 10000; i++)
        check(fscanf(stream, "%d some text in a line %*d", &value) == 1 && value == i);
    check(fscanf(stream, "%d", &value) == EOF);
    fclose(stream);
}

static void wide(void)
{
    FILE *stream = on("wide", "w");
    wchar_t text[8];
    int value;

    for (int i = 0; i < 1000; i++)
        check(fwprintf(stream, L"%04d \u00e4\u20ac\n", i) == 8);
    fclose(stream);
    stream = on("wide", "r");
    for (int i = 0; i < 1000; i++)
        check(fwscanf(stream, L"%d %7ls", &value, text) == 2 && value == i);
    fclose(stream);
}

/* Numbers that are longer than the buffer. */
static void large(void)
{
    FILE *stream = on("large", "w");
    int value;

    for (int i = 0; i < 20; i++)
        check(fprintf(stream, "%*d\n", 9999, i) == 10000);
    fclose(stream);
    stream = on("large", "r");
    for (int i = 0; i < 20; i++)
        check(fscanf(stream, "%d", &value) == 1 && value == i);
    check(fgetc(stream) == '\n');
    fclose(stream);
}

static void others(void)
{
    int fd = open("lines", O_RDWR | O_CREAT | O_TRUNC, 0600);
    char *line = NULL;
    size_t capacity = 0;
    FILE *stream;

    for (int i = 0; i < 100; i++)
        check(dprintf(fd, "%5d\n", i) == 6);
    close(fd);
    stream = on("lines", "r");
    for (int i = 0; i < 100; i++)
        check(getline(&line, &capacity, stream) == 6);
    check(getline(&line, &capacity, stream) < 0);
    fclose(stream);
    stream = on("plain", "w");
    setvbuf(stream, NULL, _IONBF, 0);
    for (int i = 0; i < 50; i++)
        check(fprintf(stream, "%7d\n", i) == 8);
    fclose(stream);
}

/* What fails moves nothing: the file may not grow. */
static void failing(void)
{
    const struct rlimit none = {0, RLIM_INFINITY};
    FILE *stream = on("failing", "w");

    signal(SIGXFSZ, SIG_IGN);
    setvbuf(stream, NULL, _IONBF, 0);
    check(!setrlimit(RLIMIT_FSIZE, &none) && fprintf(stream, "text") < 0);
    fclose(stream);
}

int main(int argc, char **argv)
{
    check(setlocale(LC_ALL, "C.UTF-8") != NULL);
    narrow();
    wide();
    large();
    others();
    if (argc > 1 && argv[1][0] == 'f')
        failing();
    return 0;
}
