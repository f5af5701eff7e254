/* SPDX-License-Identifier: MIT */
/* Reads and writes where there are no offsets: pipes, a FIFO, sockets, a terminal. usage: nowhere
 * DIRECTORY */
#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static void check(int condition, const char *what)
{
    if (!condition) {
        perror(what);
        exit(99);
    }
}

static void move(int from, int to)
{
    char bytes[100] = "";

    for (int i = 1; i <= 3; i++)
        check(write(from, bytes, (size_t)(10 * i)) == 10 * i && read(to, bytes, 100) == 10 * i, "move");
}

int main(int argc, char **argv)
{
    int pair[2], fifo;
    char bytes[10] = "";
    FILE *stream;

    check(argc == 2 && !chdir(argv[1]) && !pipe(pair), "pipe");
    move(pair[1], pair[0]);
    check(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
    move(pair[0], pair[1]);
    check(send(pair[1], bytes, 10, 0) == 10 && recv(pair[0], bytes, 10, 0) == 10, "send");
    check(!mkfifo("fifo", 0644) && (fifo = open("fifo", O_RDWR)) >= 0, "fifo");
    move(fifo, fifo);
    check((stream = fdopen(fifo, "r+")) != NULL, "fdopen");
    setvbuf(stream, NULL, _IONBF, 0);
    check(fwrite(bytes, 5, 1, stream) == 1 && fread(bytes, 5, 1, stream) == 1, "stream");
    check(!openpty(&pair[0], &pair[1], NULL, NULL, NULL), "openpty");
    check(write(pair[1], bytes, 10) == 10 && read(pair[0], bytes, 10) > 0, "terminal");
    return 0;
}
