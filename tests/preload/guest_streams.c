/* SPDX-License-Identifier: MIT */
/* Cases about FILE streams: where their calls happen in the file, whatever the buffer does. */
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *make_lines(const char *name)
{
    FILE *file = fopen(name, "w+");

    guest_need(file != NULL, name);
    for (int i = 0; i < 100; i++)
        fprintf(file, "line %04d\n", i); /* ten bytes each */
    guest_need(fclose(file) == 0, "fclose");
    file = fopen(name, "r");
    guest_need(file != NULL, name);
    return file;
}

static int reading(void)
{
    char text[64], *line = NULL;
    size_t room = 0;
    FILE *file = make_lines("lines");

    guest_say("getc", getc(file));
    guest_say("fgetc", fgetc(file));
    guest_say("getc_unlocked", getc_unlocked(file));
    guest_say("fgets", fgets(text, 4, file) ? (long)strlen(text) : -1);
    guest_say("fgets", fgets(text, 64, file) ? (long)strlen(text) : -1);
    guest_say("fread", (long)fread(text, 3, 4, file));
    guest_say("getline", getline(&line, &room, file));
    guest_say("getdelim", getdelim(&line, &room, '5', file));
    guest_say("ftell", ftell(file));
    guest_say("fseek", fseek(file, 500, SEEK_SET));
    guest_say("fread", (long)fread(text, 1, 10, file));
    guest_say("fseek", fseek(file, -20, SEEK_CUR));
    guest_say("fread", (long)fread(text, 10, 2, file));
    guest_say("fseeko", fseeko(file, -15, SEEK_END));
    guest_say("fread", (long)fread(text, 10, 2, file));
    guest_say("eof", feof(file) != 0);
    guest_say("getc", getc(file));
    rewind(file);
    guest_say("fgets", fgets(text, 64, file) ? (long)strlen(text) : -1);
    guest_say("fclose", fclose(file));
    free(line);
    return 0;
}

static int writing(void)
{
    FILE *file = fopen("written", "w");

    guest_need(file != NULL, "fopen");
    guest_say("fputs", fputs("twelve bytes", file) >= 0);
    guest_say("fputc", fputc('x', file));
    guest_say("putc", putc('y', file));
    guest_say("fwrite", (long)fwrite("abcdef", 2, 3, file));
    guest_say("fprintf", fprintf(file, "%d %s\n", 42, "text"));
    guest_say("fflush", fflush(file));
    guest_say("fseek", fseek(file, 2, SEEK_SET));
    guest_say("fwrite", (long)fwrite("XY", 1, 2, file));
    guest_say("fclose", fclose(file));
    file = fopen("written", "a+");
    guest_say("fputs", fputs("appended", file) >= 0);
    guest_say("fclose", fclose(file));
    return 0;
}

static int __attribute__((format(printf, 1, 2))) call_vprintf(const char *format, ...)
{
    va_list list;
    int result;

    va_start(list, format);
    result = vprintf(format, list);
    va_end(list);
    return result;
}

/* Standard output is a file. The compiler makes puts and putchar of some of these. */
static int printing(void)
{
    volatile int seven = 7;

    guest_say("printf", printf("seven: %d\n", seven));
    guest_say("printf", printf("a line\n"));
    guest_say("puts", puts("another") >= 0);
    guest_say("putchar", putchar('z'));
    guest_say("fputs", fputs("text\n", stdout) >= 0);
    guest_say("vprintf", call_vprintf("%s-%c-%5.2f\n", "v", 'c', 3.14159));
    guest_say("dprintf", fflush(stdout) == 0 ? dprintf(1, "%ld|%s\n", 1234567890123L, "d") : -1);
    guest_say("fwrite", (long)fwrite("0123456789", 5, 2, stdout));
    return 0;
}

static int other_streams(void)
{
    char text[32] = "";
    FILE *file = make_lines("first"), *memory;
    int fd;

    guest_say("fgets", fgets(text, 32, file) != NULL);
    make_lines("second");
    file = freopen("second", "r", file);
    guest_need(file != NULL, "freopen");
    guest_say("fgets", fgets(text, 32, file) != NULL);
    guest_say("fclose", fclose(file));
    fd = open("third", O_RDWR | O_CREAT, 0644);
    guest_need(write(fd, "0123456789", 10) == 10 && lseek(fd, 4, SEEK_SET) == 4, "third");
    file = fdopen(fd, "r+");
    guest_need(file != NULL, "fdopen");
    guest_say("fread", (long)fread(text, 1, 3, file));
    guest_say("fclose", fclose(file));
    memory = fmemopen(text, sizeof text, "w+");
    guest_need(memory != NULL, "fmemopen");
    guest_say("fputs", fputs("in memory", memory) >= 0);
    guest_say("fclose", fclose(memory));
    guest_say("to nothing", freopen(NULL, "r", stdin) != NULL);
    return 0;
}

const struct guest_case guest_streams[] = {
    {"reading", reading}, {"writing", writing}, {"printing", printing}, {"other_streams", other_streams}, {NULL, NULL}};
