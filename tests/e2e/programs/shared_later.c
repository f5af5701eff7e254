/* SPDX-License-Identifier: MIT */
/* Files that close on exec, until a child gets one after all and writes to it, in five ways.
 *
 * usage: shared_later FILES     so many more stay as they are */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void wait_for(pid_t pid)
{
    if (pid <= 0 || waitpid(pid, NULL, 0) != pid)
        abort();
}

static void run(const char *command)
{
    char *argv[] = {"sh", "-c", (char *)command, NULL};
    pid_t pid = 0;

    if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ))
        abort();
    wait_for(pid);
}

/* The child's write goes to this number. */
static void run_writer(int fd)
{
    char command[64];

    snprintf(command, sizeof command, "echo child >&%d", fd);
    run(command);
}

static void add(int fd)
{
    if (write(fd, "5678", 4) != 4 || write(fd, "5678", 4) != 4)
        abort();
}

static int make(const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0644);

    if (fd < 0 || write(fd, "1234", 4) != 4)
        abort();
    return fd;
}

static void fork_writer(int fd)
{
    pid_t pid = fork();

    if (!pid)
        _exit(write(fd, "child\n", 6) != 6);
    wait_for(pid);
}

int main(int argc, char **argv)
{
    int setfd = make("setfd"), ioctled = make("ioctl"), copied = make("copied"), forked = make("forked"), late;
    int spare[2] = {make("spare"), make("spare")}; /* the shell takes numbers of one digit */

    for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--)
        make("more");
    for (int i = 0; i < 5; i++)
        run(":");
    if (fcntl(setfd, F_SETFD, 0))
        abort();
    run_writer(setfd);
    add(setfd);
    if (ioctl(ioctled, FIONCLEX))
        abort();
    run_writer(ioctled);
    add(ioctled);
    close(spare[0]);
    run_writer(dup(copied));
    add(copied);
    close(spare[1]);
    late = make("late");
    if (fcntl(late, F_SETFD, 0))
        abort();
    run_writer(late);
    add(late);
    fork_writer(forked);
    add(forked);
    return 0;
}
