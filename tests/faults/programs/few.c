/* SPDX-License-Identifier: MIT */
/* Few numbers, or none that the library could watch: few HOW CALLS FROM TO FILE. HOW: posix, stdio: so many calls
 * of pwrite or fwrite on FILE, and soon the directory FROM is called TO: what is open stays open, and what is looked for
 * by its name is lost. closed: descriptor 1 is closed, and a thread writes to it all the time, in vain. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int over;
static long written;

static void need(int is_true, const char *what)
{
    if (is_true)
        return;
    perror(what);
    _exit(99);
}

static void *write_to_closed(void *unused)
{
    while (!over)
        written += write(1, "this is no trace", 16) > 0;
    return unused;
}

int main(int argc, char **argv)
{
    int calls = argc == 6 ? atoi(argv[2]) : 0, is_stdio = calls && !strcmp(argv[1], "stdio");
    FILE *stream = argc == 6 ? fopen(argv[5], "w") : NULL;
    pthread_t thread;
    int fd;

    need(calls && stream && !setvbuf(stream, NULL, _IONBF, 0), "few HOW CALLS FROM TO FILE");
    fd = fileno(stream);
    if (!strcmp(argv[1], "closed")) {
        close(1);
        need(!pthread_create(&thread, NULL, write_to_closed, NULL), "pthread_create");
    }
    for (int i = 0; i < calls; i++) {
        if (is_stdio)
            need(fwrite("x", 1, 1, stream) == 1, "fwrite");
        else
            need(pwrite(fd, "x", 1, i) == 1, "pwrite");
        if (i == calls / 4 && strcmp(argv[1], "closed") != 0)
            need(!rename(argv[3], argv[4]), "rename");
    }
    over = 1;
    if (!strcmp(argv[1], "closed"))
        pthread_join(thread, NULL);
    fprintf(stderr, "%ld writes to a closed descriptor\n", written);
    return 0;
}
