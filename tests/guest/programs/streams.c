/* SPDX-License-Identifier: MIT */
/* Streams in every way: compiled with each level of _FORTIFY_SOURCE, with and without optimisation,
 * with 32 and 64 bits. */
#include "cases.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio_ext.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

static void print_with(FILE *stream, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    say("vfprintf", vfprintf(stream, format, list));
    va_end(list);
}

static void writing(void)
{
    FILE *stream = fopen("written", "w+");
    char text[100];
    int n;

    say("fprintf", fprintf(stream, "%s %d %5.2f %n\n", "text", 42, 3.14159, &n));
    say("n", n);
    print_with(stream, "%*d|%-8s|%c\n", 7, 13, "left", 'c');
    say("fputs", fputs("some text\n", stream) >= 0);
    say("putc", putc('x', stream));
    say("putc_unlocked", putc_unlocked('y', stream));
    say("fwrite", (long)fwrite("0123456789", 2, 5, stream));
    say("dprintf", dprintf(fileno(stream), "straight %s\n", "out"));
    say("ftell", ftell(stream));
    say("fseek", fseek(stream, 3, SEEK_SET));
    say("fgets", fgets(text, sizeof text, stream) != NULL);
    fputs(text, stdout);
    say("fread", (long)fread(text, 1, 7, stream));
    say("fseeko", fseeko(stream, -4, SEEK_END));
    say("getc", getc(stream));
    say("ungetc", ungetc('u', stream));
    say("getc", getc(stream));
    say("fflush", fflush(stream));
    say("ftruncate", ftruncate(fileno(stream), 30));
    rewind(stream);
    say("fscanf", fscanf(stream, "%99s %d", text, &n));
    say("fclose", fclose(stream));
}

static void reading(void)
{
    FILE *stream = fopen("read", "w");
    char *line = NULL, text[64];
    size_t room = 0;
    long n, sum = 0;
    int c;

    for (int i = 0; i < 3000; i++)
        fprintf(stream, "%d %x\n", i, (unsigned)i * 7919u);
    fclose(stream);
    stream = fopen("read", "re");
    while ((n = getline(&line, &room, stream)) > 0)
        sum += n;
    say("getline", sum);
    rewind(stream);
    while ((n = getdelim(&line, &room, ' ', stream)) > 0)
        sum += n;
    say("getdelim", sum);
    free(line);
    rewind(stream);
    while ((c = fgetc(stream)) != EOF)
        sum += c;
    say("fgetc", sum);
    say("feof", feof(stream) != 0);
    clearerr(stream);
    rewind(stream);
    while (fgets(text, 8, stream))
        sum += text[0];
    say("fgets", sum);
    say("freopen", freopen("read", "r+", stream) != NULL);
    say("setvbuf", setvbuf(stream, NULL, _IONBF, 0));
    for (int i = 0; i < 50; i++)
        sum += getc(stream);
    say("getc", sum);
    say("offset", lseek(fileno(stream), 0, SEEK_CUR));
    fclose(stream);
}

static void odd_streams(void)
{
    char *memory = NULL, buffer[32] = "given memory";
    size_t size = 0;
    FILE *stream = open_memstream(&memory, &size);
    struct stat st;
    int ends[2];

    fprintf(stream, "in memory %d", 1);
    fclose(stream);
    say("open_memstream", (long)size);
    free(memory);
    stream = fmemopen(buffer, sizeof buffer, "r+");
    say("fmemopen", fgetc(stream));
    fclose(stream);
    stream = tmpfile();
    fputs("temporary", stream);
    say("fflush", fflush(stream));
    say("fstat", fstat(fileno(stream), &st));
    say("size", (long)st.st_size);
    fclose(stream);
    stream = popen("cat; echo from the child; exit 3", "w");
    fputs("to the child\n", stream);
    say("pclose", pclose(stream));
    stream = popen("echo one; echo two", "r");
    while (fgets(buffer, sizeof buffer, stream))
        fputs(buffer, stdout);
    say("pclose", pclose(stream));
    say("pipe", pipe(ends));
    stream = fdopen(ends[1], "w");
    say("fprintf", fprintf(stream, "through a pipe"));
    say("fclose", fclose(stream));
    say("read", read(ends[0], buffer, sizeof buffer));
    say("poll", poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, 0));
    say("system", system("exit 4"));
    stream = fopen("wide", "w+,ccs=UTF-8");
    say("fwide", fwide(stream, 0) > 0);
    say("fputws", fputws(L"wide \x263a\n", stream));
    say("fclose", fclose(stream));
    say("fopen", fopen("nosuch/nosuch", "r") != NULL);
    say("errno", errno);
    say("fclose of standard input", fclose(stdin));
    say("open", open("read", O_RDONLY | O_CREAT, 0644));
}

static void long_files(void)
{
    int fd = open("long", O_RDWR | O_CREAT, 0644);
    char byte = 0;

    say("sizeof off_t", (long)sizeof(off_t));
    say("pwrite", pwrite(fd, "end", 3, (off_t)0x7ffffff0));
    say("lseek", (long)lseek(fd, 0, SEEK_END));
    say("pread", pread(fd, &byte, 1, (off_t)0x7ffffff0));
    say("byte", byte);
    if (sizeof(off_t) == 8)
        say("far", pwrite(fd, "x", 1, (off_t)(INT64_C(1) << 33)));
    say("ftruncate", ftruncate(fd, 5));
    close(fd);
}

static FILE *shared;

static void *print_lines(void *argument)
{
    for (int i = 0; i < 2000; i++) {
        flockfile(shared);
        fputs_unlocked("a line of ", shared);
        fprintf(shared, "thread and more\n");
        funlockfile(shared);
    }
    return argument;
}

static void from_threads(void)
{
    pthread_t threads[4];

    shared = fopen("shared", "w");
    __fsetlocking(shared, FSETLOCKING_INTERNAL);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, print_lines, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    say("ftell", ftell(shared));
    fclose(shared);
}

/* What _FORTIFY_SOURCE is there for: the check ends the program, with its message. */
static void overrun(void)
{
    volatile size_t size = 64;
    char small[16];
    int fd = open("read", O_RDWR | O_CREAT, 0644);

    say("write", write(fd, "0123456789012345678901234567890123456789", 40));
    fflush(stdout);
#if defined(__USE_FORTIFY_LEVEL) && __USE_FORTIFY_LEVEL > 0
    say("pread", pread(fd, small, size, 0));
#else
    say("pread", pread(fd, small, size - 60, 0));
#endif
    close(fd);
}

int main(int argc, char **argv)
{
    static const struct guest_case cases[] = {{"writing", writing},
                                              {"reading", reading},
                                              {"odd_streams", odd_streams},
                                              {"long_files", long_files},
                                              {"from_threads", from_threads},
                                              {"overrun", overrun},
                                              {NULL, NULL}};

    return run_case(cases, argc, argv);
}
