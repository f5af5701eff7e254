/* SPDX-License-Identifier: MIT */
/* Pauses in an order that its arguments give: "thread" (what follows is of the thread, not of the process), "pause",
 * "resume", "reads" (ten of the file that is the first argument), "sleep" (50 ms), "many=N" (N pauses of a
 * millisecond, each with a read behind it), "exec" (this program, with the words that follow), "fork" (a child does
 * what follows, and the parent waits), "kill" (itself). */
#include <dftrace/dftrace.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *path;
static int of_thread;

static void read_file(int count)
{
    char byte;

    for (int i = 0; i < count; i++) {
        int fd = open(path, O_RDONLY);

        if (read(fd, &byte, 1) != 1)
            abort();
        close(fd);
    }
}

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static void pause_it(int begins)
{
    if (of_thread && begins)
        DFTRACE_PAUSE_THREAD();
    else if (of_thread)
        DFTRACE_RESUME_THREAD();
    else if (begins)
        DFTRACE_PAUSE_PROCESS();
    else
        DFTRACE_RESUME_PROCESS();
}

static void pause_often(int count)
{
    for (int i = 0; i < count; i++) {
        pause_it(1);
        sleep_ms(1);
        pause_it(0);
        read_file(1);
    }
}

static void fork_here(void)
{
    pid_t child = fork();

    if (child) {
        waitpid(child, NULL, 0);
        exit(0);
    }
}

int main(int argc, char **argv)
{
    path = argv[1];
    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "thread")) {
            of_thread = 1;
        } else if (!strcmp(argv[i], "pause") || !strcmp(argv[i], "resume")) {
            pause_it(*argv[i] == 'p');
        } else if (!strcmp(argv[i], "reads")) {
            read_file(10);
        } else if (!strcmp(argv[i], "sleep")) {
            sleep_ms(50);
        } else if (!strncmp(argv[i], "many=", 5)) {
            pause_often(atoi(argv[i] + 5));
        } else if (!strcmp(argv[i], "fork")) {
            fork_here();
        } else if (!strcmp(argv[i], "kill")) {
            kill(getpid(), SIGKILL);
        } else if (!strcmp(argv[i], "exec")) {
            argv[i - 1] = argv[0];
            argv[i] = argv[1];
            execv("/proc/self/exe", argv + i - 1);
        }
    }
    return 0;
}
