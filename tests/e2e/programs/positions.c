/* SPDX-License-Identifier: MIT */
/* STDIO calls that do not return how many bytes they moved, and characters that inlined code moves;
 * then transfers between descriptors. Asserts nothing: the test knows what it does.
 *
 * usage: positions DIRECTORY */
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>
#include <wchar.h>

static void inlined(void)
{
    FILE *stream = fopen("inlined", "w");
    char buffer[64];
    int c;

    for (int i = 0; i < 10000; i++)
        putc_unlocked('a' + i % 26, stream);
    fwrite("abc", 3, 1, stream);
    putc_unlocked('x', stream);
    fclose(stream);
    stream = fopen("inlined", "r");
    for (int i = 0; i < 100; i++)
        c = getc_unlocked(stream);
    if (fread(buffer, 1, 50, stream) != 50)
        exit(99);
    for (int i = 0; i < 100; i++)
        c = getc_unlocked(stream);
    fseek(stream, 9000, SEEK_SET);
    do
        c = getc_unlocked(stream);
    while (c != EOF);
    fclose(stream);
}

static void wide(void)
{
    FILE *stream = fopen("wide", "w");
    wchar_t text[20];
    int number;

    for (int i = 0; i < 1000; i++)
        fputwc(0xe9, stream);
    fwprintf(stream, L"%d \u00e9 %ls\n", 42, L"\u20ac");
    fputws(L"h\u00e9\u20ac\n", stream);
    fclose(stream);
    stream = fopen("wide", "r");
    for (int i = 0; i < 1000; i++)
        fgetwc(stream);
    if (fwscanf(stream, L"%d %ls", &number, text) != 2)
        exit(99);
    fgetws(text, 20, stream);
    ungetwc(L'\u00e9', stream);
    fgetwc(stream);
    fclose(stream);
}

static void scanned(void)
{
    FILE *stream = fopen("scanned", "w");
    char line[30];
    fpos_t position;
    int a, b;

    fprintf(stream, "%d 34 56\nhello %d\n", 12, 78);
    fclose(stream);
    stream = fopen("scanned", "r");
    if (fscanf(stream, "%d %d", &a, &b) != 2)
        exit(99);
    ungetc(getc(stream), stream);
    if (fscanf(stream, "%d", &a) != 1)
        exit(99);
    fgetpos(stream, &position);
    getc(stream);
    fsetpos(stream, &position);
    setvbuf(stream, NULL, _IONBF, 0);
    if (!fgets(line, sizeof line, stream) || fscanf(stream, "hello %d", &a) != 1)
        exit(99);
    if (fscanf(stream, "%d", &a) != EOF)
        exit(99);
    fclose(stream);
}

static void transfers(void)
{
    int in = open("inlined", O_RDONLY), out = open("copy", O_RDWR | O_CREAT | O_TRUNC, 0644), pair[2];
    off_t from = 100, to = 5000;

    if (pipe(pair))
        exit(99);
    if (copy_file_range(in, NULL, out, NULL, 1000, 0) != 1000 || copy_file_range(in, &from, out, &to, 500, 0) != 500 ||
        sendfile(out, in, NULL, 200) != 200 || sendfile(out, in, &from, 300) != 300)
        exit(99);
    if (splice(in, NULL, pair[1], NULL, 400, 0) != 400 || splice(pair[0], NULL, out, &to, 400, 0) != 400)
        exit(99);
    if (sendfile(pair[1], in, NULL, 50) != 50 || copy_file_range(in, NULL, pair[1], NULL, 10, 0) != -1)
        exit(99);
    if (read(in, &from, 8) != 8 || write(out, &from, 8) != 8)
        exit(99);
}

/* What is left in a buffer when the process ends was moved too. */
static void at_exit(void)
{
    FILE *stream = fopen("left", "w");

    for (int i = 0; i < 123; i++)
        putc_unlocked('z', stream);
}

int main(int argc, char **argv)
{
    if (argc < 2 || chdir(argv[1]) || !setlocale(LC_ALL, "C.UTF-8"))
        return 2;
    inlined();
    wide();
    scanned();
    transfers();
    at_exit();
    return 0;
}
