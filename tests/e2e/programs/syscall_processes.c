/* SPDX-License-Identifier: MIT */
/* Processes by system calls: each way to make one, to become another program, and to end.
 *
 * usage: syscall_processes HOW    in an empty directory; HOW: children, threads, last, group, rest, execve,
 * execveat */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int file;

static void put(long offset)
{
    if (pwrite(file, "x", 1, offset) != 1)
        abort();
}

static void need_status(pid_t pid, int code)
{
    int status;

    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != code)
        abort();
}

static pid_t make(int how)
{
    struct clone_args args = {.exit_signal = SIGCHLD};

#ifdef SYS_fork
    if (how == 0)
        return (pid_t)syscall(SYS_fork);
#endif
    if (how == 2)
        return (pid_t)syscall(SYS_clone3, &args, sizeof args);
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static void children(void)
{
    put(0);
    for (int i = 0; i < 6; i++) {
        pid_t pid = make(i % 3);

        if (pid < 0)
            abort();
        if (pid == 0) {
            put(100 + i);
            syscall(i < 3 ? SYS_exit_group : SYS_exit, 10 + i);
        }
        need_status(pid, 10 + i);
        put(i + 1);
    }
    if (syscall(SYS_clone3, (void *)8, sizeof(struct clone_args)) != -1 || errno != EFAULT)
        abort();
    exit(1);
}

static void *thread(void *number)
{
    for (long i = 0; i < 10; i++)
        put(1000 * (long)number + i);
    return number;
}

static void *thread_by_exit(void *number)
{
    thread(number);
    syscall(SYS_exit, 0);
    return NULL;
}

/* They end past all destructors; their memory for events must come back. */
static void threads(void)
{
    for (long i = 1; i <= 200; i++) {
        pthread_t id;

        if (pthread_create(&id, NULL, i % 2 ? thread_by_exit : thread, (void *)i) || pthread_join(id, NULL))
            abort();
    }
    exit(2);
}

/* Waits until it is alone: the first thread is then a zombie, without a directory of open files. */
static void *outlives(void *number)
{
    char text[64];

    snprintf(text, sizeof text, "/proc/self/task/%d/cwd", (int)getpid());
    while (readlink(text, (char[8]){0}, 8) > 0)
        usleep(1000);
    return thread(number);
}

int main(int argc, char **argv)
{
    char *arguments[] = {"echo", "another program", NULL};
    const char *how = argc > 1 ? argv[1] : "";
    pthread_t id;

    file = open("file", O_RDWR | O_CREAT, 0644);
    if (!strcmp(how, "children"))
        children();
    if (!strcmp(how, "threads"))
        threads();
    put(0);
    if (!strcmp(how, "last"))
        syscall(SYS_exit, 3);
    if (!strcmp(how, "group"))
        syscall(SYS_exit_group, 4);
    if (!strcmp(how, "rest")) { /* the first thread ends before another */
        if (pthread_create(&id, NULL, outlives, (void *)1))
            abort();
        syscall(SYS_exit, 5);
    }
    syscall(SYS_execve, "/no/such/program", arguments, environ);
    put(1);
    syscall(SYS_execve, "/etc/passwd", arguments, environ);
    put(2);
    if (!strcmp(how, "execve"))
        syscall(SYS_execve, "/bin/echo", arguments, environ);
    if (!strcmp(how, "execveat"))
        syscall(SYS_execveat, open("/bin", O_RDONLY | O_DIRECTORY), "echo", arguments, environ, 0);
    return 99;
}
