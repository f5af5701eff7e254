/* SPDX-License-Identifier: MIT */
/* Writes, then ends in the way that the first argument names: for the tests of what a trace says
 * about an end.
 *
 * usage: endings HOW FILE COUNT Writes COUNT times 10 bytes to FILE, then: return, exit, _exit,
 * abort, segv, kill (SIGKILL to itself), hang (says "ready" and waits for a signal), exec (runs cat
 * FILE), vfork (a vfork child runs true; then returns), handler (leaves by exit from a signal
 * handler), none (does not even write), raw (leaves by the exit_group system call). */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../preload/raw.h"

static void leave(int number)
{
    exit(number == SIGUSR1 ? 7 : 8);
}

static void run_true(void)
{
    int status;
    pid_t pid = vfork();

    if (pid == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(127);
    }
    waitpid(pid, &status, 0);
}

static int end(const char *how, const char *file)
{
    if (strcmp(how, "exit") == 0)
        exit(3);
    if (strcmp(how, "_exit") == 0)
        _exit(4);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "segv") == 0)
        raise(SIGSEGV);
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "raw") == 0)
        raw_call(SYS_exit_group, 5, 0, 0);
    if (strcmp(how, "syscall") == 0)
        syscall(SYS_exit_group, 6);
    if (strcmp(how, "exec") == 0)
        execlp("cat", "cat", file, (char *)NULL);
    if (strcmp(how, "vfork") == 0)
        run_true();
    if (strcmp(how, "hang") == 0) {
        if (write(STDOUT_FILENO, "ready\n", 6) != 6)
            return 98;
        for (;;)
            pause();
    }
    if (strcmp(how, "handler") == 0) {
        signal(SIGUSR1, leave);
        raise(SIGUSR1);
    }
    return 0;
}

int main(int argc, char **argv)
{
    int fd;

    if (argc != 4)
        return 2;
    if (strcmp(argv[1], "none") == 0)
        return 0;
    fd = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0)
        return 97;
    for (int i = 0; i < atoi(argv[3]); i++)
        if (write(fd, "0123456789", 10) != 10)
            return 96;
    return end(argv[1], argv[2]);
}
