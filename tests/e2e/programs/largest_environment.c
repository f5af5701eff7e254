/* SPDX-License-Identifier: MIT */
/* Finds the largest environment that each way of running a program takes, to the byte.
 *
 * usage: largest_environment PROGRAM */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define VARIABLES      4
#define VARIABLE_BYTES (64 << 10)

static const char *program;
static char *arguments[] = {"program", NULL};
static char text[VARIABLES][VARIABLE_BYTES + 8], *environment[VARIABLES + 1];

/* This many bytes, without the zeros at the ends. */
static void fill(int bytes)
{
    for (int i = 0; i < VARIABLES; i++) {
        int length = bytes < VARIABLE_BYTES ? bytes : VARIABLE_BYTES;

        bytes -= length;
        environment[i] = text[i];
        memset(text[i], 'x', (size_t)length);
        text[i][length] = 0;
        if (length > 2)
            memcpy(text[i], "V=", 2);
    }
}

static void execute(const char *how)
{
    if (!strcmp(how, "execve") || !strcmp(how, "vfork"))
        execve(program, arguments, environment);
    else if (!strcmp(how, "execvpe"))
        execvpe(program, arguments, environment);
    else if (!strcmp(how, "execle"))
        execle(program, "program", NULL, environment);
    else if (!strcmp(how, "fexecve"))
        fexecve(open(program, O_RDONLY), arguments, environment);
    else if (!strcmp(how, "execveat"))
        execveat(AT_FDCWD, program, arguments, environment, 0);
    else
        environ = environment;
    if (!strcmp(how, "execv"))
        execv(program, arguments);
    else if (!strcmp(how, "execvp"))
        execvp(program, arguments);
    else if (!strcmp(how, "execl"))
        execl(program, "program", NULL);
    else if (!strcmp(how, "execlp"))
        execlp(program, "program", NULL);
}

/* Does it run? */
static int runs(const char *how)
{
    pid_t pid = 0;
    int status = 1;

    errno = 0;
    if (!strcmp(how, "posix_spawn"))
        errno = posix_spawn(&pid, program, NULL, NULL, arguments, environment);
    else if (!strcmp(how, "posix_spawnp"))
        errno = posix_spawnp(&pid, program, NULL, NULL, arguments, environment);
    else if (!strcmp(how, "vfork") ? !(pid = vfork()) : !(pid = fork())) {
        execute(how);
        _exit(errno == E2BIG ? 1 : 2);
    }
    if (errno == E2BIG)
        return 0;
    if (errno || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) > 1)
        abort();
    return WEXITSTATUS(status) == 0;
}

static int largest(const char *how)
{
    int fits = 0, fails = VARIABLES * VARIABLE_BYTES;

    while (fails - fits > 1) {
        int between = fits + (fails - fits) / 2;

        fill(between);
        *(runs(how) ? &fits : &fails) = between;
    }
    return fits;
}

int main(int argc, char **argv)
{
    static const char *const ways[] = {"execve", "execv",   "execvp",   "execvpe",     "execl",        "execlp",
                                       "execle", "fexecve", "execveat", "posix_spawn", "posix_spawnp", "vfork"};
    struct rlimit limit;

    if (argc != 2 || getrlimit(RLIMIT_STACK, &limit))
        return 2;
    program = argv[1];
    limit.rlim_cur = 512 << 10; /* of which a quarter is for arguments and environment */
    if (setrlimit(RLIMIT_STACK, &limit))
        return 2;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        printf("%s %d\n", ways[i], largest(ways[i]));
    return 0;
}
