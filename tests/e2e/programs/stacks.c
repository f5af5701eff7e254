/* SPDX-License-Identifier: MIT */
/* Calls in functions that are known by name and line: nested, in a handler, in threads, behind a
 * longjmp. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static int fd;
static jmp_buf back;

APART int leaf(void)
{
    char byte;
    long n = pread(fd, &byte, 1, 0); /* line A */

    return (int)n + 1;
}

APART int middle(int depth)
{
    return depth ? middle(depth - 1) + 1 : leaf() + 1;
}

APART void on_signal(int signal)
{
    leaf();
    if (signal == SIGUSR2)
        longjmp(back, 1);
}

APART void *in_thread(void *unused)
{
    for (int i = 0; i < 1000; i++)
        middle(i % 3);
    return unused;
}

APART void slow(void)
{
    int ends[2];
    char byte;

    if (pipe(ends) || write(ends[1], "x", 1) != 1)
        exit(1);
    usleep(1000);
    if (read(ends[0], &byte, 1) != 1)
        exit(1);
}

int main(int argc, char **argv)
{
    pthread_t threads[2];

    fd = open(argv[0], O_RDONLY);
    for (int i = 0; i < 10; i++)
        leaf();
    middle(100);
    signal(SIGUSR1, on_signal);
    signal(SIGUSR2, on_signal);
    for (volatile int i = 0; i < 5; i++) {
        raise(SIGUSR1);
        if (!setjmp(back))
            raise(SIGUSR2);
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGUSR2);
        sigprocmask(SIG_UNBLOCK, &set, NULL);
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, in_thread, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    slow();
    close(fd);
    puts("done");
    if (argc > 1 && !strcmp(argv[1], "kill"))
        raise(SIGKILL);
    return 0;
}
