/* SPDX-License-Identifier: MIT */
/* Makes children in every way there is, and prints a line for each call as it should stand in a
 * trace: name, result, and the status for those that wait ("-" where there is none).
 *
 * usage: family [KIND]. Without KIND, all that come back; with one: daemon, quick, abort,
 * abort_caught. */
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

extern char **environ;

static void say(const char *name, long result, int status)
{
    if (status < 0)
        printf("%s %ld -\n", name, result);
    else
        printf("%s %ld %d\n", name, result, status);
    fflush(stdout);
}

static pid_t make_child(int status)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(status);
    say("fork", pid, -1);
    return pid;
}

static void wait_in_every_way(void)
{
    struct rusage usage;
    siginfo_t info;
    int status;
    pid_t pid = make_child(1);

    pid = wait(&status);
    say("wait", pid, status);
    make_child(2);
    pid = wait3(&status, 0, &usage);
    say("wait3", pid, status);
    pid = make_child(3);
    pid = wait4(pid, &status, 0, &usage);
    say("wait4", pid, status);
    pid = make_child(4);
    waitid(P_PID, (id_t)pid, &info, WEXITED);
    say("waitid", info.si_pid, info.si_status << 8);
    pid = make_child(5);
    waitpid(pid, NULL, 0);
    say("waitpid", pid, -1);
    pid = fork();
    if (pid == 0)
        pause();
    say("fork", pid, -1);
    say("waitpid", waitpid(pid, &status, WNOHANG), -1);
    kill(pid, SIGTERM);
    waitpid(pid, &status, 0);
    say("waitpid", pid, status);
    say("waitpid", waitpid(-1, &status, 0), -1);
}

static void spawn_in_every_way(void)
{
    char *arguments[] = {"sh", "-c", "exit 6", NULL};
    posix_spawn_file_actions_t actions;
    wordexp_t words;
    char line[16];
    FILE *stream;
    int status;
    pid_t pid = 0;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 9, "/dev/null", O_RDONLY, 0);
    posix_spawn(&pid, "/bin/sh", &actions, NULL, arguments, environ);
    say("posix_spawn", pid, -1);
    pid = waitpid(pid, &status, 0);
    say("waitpid", pid, status);
    posix_spawnp(&pid, "sh", NULL, NULL, arguments, environ);
    say("posix_spawnp", pid, -1);
    pid = waitpid(pid, &status, 0);
    say("waitpid", pid, status);
    status = posix_spawn(&pid, "/no/such/program", NULL, NULL, arguments, environ);
    say("posix_spawn", -1, -1);
    status = system("exit 7");
    say("system", status, status);
    say("system", system(NULL), -1);
    stream = popen("echo one; exit 8", "r");
    say("popen", fileno(stream), -1);
    if (!fgets(line, sizeof line, stream))
        exit(99);
    status = pclose(stream);
    say("pclose", status, status);
    status = wordexp("a $(echo b c)", &words, 0);
    if (words.we_wordc != 3)
        exit(99);
    say("wordexp", status, -1);
}

static void other_children(void)
{
    int master, status;
    char byte;
    pid_t pid = forkpty(&master, NULL, NULL, NULL);

    if (pid == 0) {
        if (!isatty(0) || write(1, "t", 1) != 1)
            _exit(98);
        _exit(9);
    }
    say("forkpty", pid, -1);
    while (read(master, &byte, 1) == 1)
        ;
    close(master);
    pid = waitpid(pid, &status, 0);
    say("waitpid", pid, status);
    pid = vfork();
    if (pid == 0)
        _exit(10);
    say("vfork", pid, -1);
    pid = waitpid(pid, &status, 0);
    say("waitpid", pid, status);
}

static jmp_buf back;

static void jump(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

static void write_file(const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_APPEND, 0644);

    if (fd < 0 || write(fd, "0123456789", 10) != 10 || close(fd))
        exit(99);
}

static void at_quick_exit_write(void)
{
    write_file("at_quick_exit");
}

static void at_exit_write(void)
{
    write_file("at_exit");
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";

    write_file("before");
    atexit(at_exit_write);
    if (!strcmp(kind, "daemon")) {
        if (daemon(1, 0) < 0)
            return 97;
        write_file("daemon");
        return 11;
    }
    if (!strcmp(kind, "quick")) {
        at_quick_exit(at_quick_exit_write);
        quick_exit(12);
    }
    if (!strcmp(kind, "abort_caught")) {
        signal(SIGABRT, jump);
        if (!sigsetjmp(back, 1))
            abort();
        write_file("after");
        exit(13);
    }
    if (!strcmp(kind, "abort"))
        abort();
    wait_in_every_way();
    spawn_in_every_way();
    other_children();
    exit(14);
}
