/* SPDX-License-Identifier: MIT */
/* Cases about making processes: vfork children that do what children do, spawn, raw clone, exec
 * that fails. */
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "raw.h"

extern char **environ;

static int make_file(const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT, 0644);

    guest_need(fd >= 0, name);
    return fd;
}

static void say_status(const char *what, pid_t pid)
{
    int status = -1;

    guest_need(pid > 0 && waitpid(pid, &status, 0) == pid, what);
    guest_say(what, status);
}

/* The child redirects and closes as shells do, in its parent's memory; the parent's descriptors
 * stay what they were. */
static int vfork_exec(void)
{
    int fd = make_file("parent"), output = make_file("output");

    for (int i = 0; i < 3; i++) {
        pid_t pid = vfork();

        if (pid == 0) {
            dup2(output, 1);
            close(output);
            close(fd);
            close_range(3, ~0u, 0);
            execl("/bin/echo", "echo", "from the child", (char *)NULL);
            _exit(1);
        }
        say_status("status", pid);
        guest_say("write", write(fd, "parent", 6));
    }
    guest_say("output", lseek(output, 0, SEEK_END));
    return 0;
}

static int vfork_fails(void)
{
    int fd = make_file("parent");

    for (int i = 0; i < 3; i++) {
        pid_t pid = vfork();

        if (pid == 0) {
            dup2(fd, 9);
            close(fd);
            chdir("/");
            execl("/no/such/program", "program", (char *)NULL);
            execl("/etc", "etc", (char *)NULL);
            _exit(errno);
        }
        say_status("status", pid);
        guest_say("write", write(fd, "parent", 6));
        guest_say("nine", fcntl(9, F_GETFD));
        guest_need(access("parent", F_OK) == 0, "the working directory");
    }
    make_file("after");
    return 0;
}

static int spawn(void)
{
    char *arguments[] = {"sh", "-c", "echo spawned; echo x > spawned; exit 5", NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int fd = make_file("parent");

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "output", O_WRONLY | O_CREAT, 0644);
    guest_say("spawn", posix_spawn(&pid, "/bin/sh", &actions, NULL, arguments, environ));
    say_status("status", pid);
    guest_say("spawnp", posix_spawnp(&pid, "sh", &actions, NULL, arguments, environ));
    say_status("status", pid);
    guest_say("missing", posix_spawn(&pid, "/no/such/program", &actions, NULL, arguments, environ));
    guest_say("system", system("exit 3"));
    guest_say("write", write(fd, "parent", 6));
    return 0;
}

/* A fork past every wrapper. */
static int raw_clone(void)
{
    int fd = make_file("file");

    guest_say("write", write(fd, "parent", 6));
    for (int i = 0; i < 3; i++) {
        pid_t pid = (pid_t)raw_call(SYS_clone, SIGCHLD, 0, 0);

        if (pid == 0) {
            char name[32];

            snprintf(name, sizeof name, "child%d", i);
            guest_need(write(fd, "child", 5) == 5, "write");
            guest_need(write(make_file(name), "own", 3) == 3, "write");
            exit(i);
        }
        say_status("status", pid);
    }
    guest_say("write", write(fd, "parent", 6));
    guest_say("size", lseek(fd, 0, SEEK_END));
    return 0;
}

static int clone_fd;

__attribute__((used)) static void clone_begins(long number)
{
    guest_need(pwrite(clone_fd, "child", 5, number) == 5, "pwrite");
    close(clone_fd);
    _exit(7);
}

/* syscall() returns in the child on the stack that it is given; registers are the parent's, but for
 * the return address on x86-64, which lies on top of the stack: what is left without it is a
 * multiple of 16. */
#if defined(__x86_64__)
#define ON_TOP 1
void clone_entry(void);
__asm__(".text\nclone_entry:\n\tmovq %rbx, %rdi\n\tcall clone_begins\n");

static long clone_with(long call, long a, long b, long number)
{
    long result;

    __asm__ volatile("call syscall"
                     : "=a"(result), "+D"(call), "+S"(a), "+d"(b)
                     : "b"(number), "0"(0L)
                     : "rcx", "r8", "r9", "r10", "r11", "memory", "cc");
    return result;
}
#else
#define ON_TOP 2
static void clone_entry(void) {}

static long clone_with(long call, long a, long b, long number)
{
    register long x0 __asm__("x0") = call;
    register long x1 __asm__("x1") = a;
    register long x2 __asm__("x2") = b;
    register long x19 __asm__("x19") = number;

    __asm__ volatile("bl syscall\n\tcbnz x0, 1f\n\tmov x0, x19\n\tbl clone_begins\n1:"
                     : "+r"(x0), "+r"(x1), "+r"(x2)
                     : "r"(x19)
                     : "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
                       "x30", "memory", "cc");
    return x0;
}
#endif

static int clone_with_stack(void)
{
    static void *stack[8192] __attribute__((aligned(16)));
    void **top = &stack[8192 - ON_TOP];

    clone_fd = make_file("file");
    for (int i = 0; i < 4; i++) {
        long flags = SIGCHLD | (i % 2 ? CLONE_VM | CLONE_VFORK : 0);
        struct clone_args args = {.flags = (uint64_t)flags & ~UINT64_C(255),
                                  .exit_signal = SIGCHLD,
                                  .stack = (uint64_t)(uintptr_t)stack,
                                  .stack_size = sizeof stack - ON_TOP * sizeof *stack};

        top[0] = (void *)clone_entry;
        guest_need(pwrite(clone_fd, "parent", 6, i) == 6, "pwrite");
        say_status("status", (pid_t)(i < 2 ? clone_with(SYS_clone, flags, (long)top, 100 + i)
                                           : clone_with(SYS_clone3, (long)&args, sizeof args, 100 + i)));
    }
    return 0;
}

static int forks(void)
{
    int fd = make_file("file");

    for (int i = 0; i < 20; i++) {
        pid_t pid = i % 2 ? fork() : _Fork();

        if (pid == 0) {
            guest_need(pwrite(fd, "child", 5, 100 + 5 * i) == 5, "pwrite");
            _exit(i);
        }
        say_status("status", pid);
        guest_need(pwrite(fd, "p", 1, i) == 1, "pwrite");
    }
    return 0;
}

/* Each form of exec, by a child each. */
static int exec_forms(void)
{
    char *arguments[] = {"sh", "-c", "echo $0 $A >&2; exit $B", NULL}, *some[] = {"A=some", "B=7", NULL};
    int shell = open("/bin/sh", O_RDONLY | O_CLOEXEC);

    setenv("A", "all", 1);
    setenv("B", "4", 1);
    for (int i = 0; i < 9; i++) {
        pid_t pid = fork();

        if (pid == 0) {
            switch (i) {
            case 0:
                execl("/bin/sh", "one", "-c", arguments[2], "execl", (char *)NULL);
                break;
            case 1:
                execlp("sh", "two", "-c", arguments[2], "execlp", (char *)NULL);
                break;
            case 2:
                execle("/bin/sh", "three", "-c", arguments[2], "execle", (char *)NULL, some);
                break;
            case 3:
                execv("/bin/sh", arguments);
                break;
            case 4:
                execvp("sh", arguments);
                break;
            case 5:
                execvpe("sh", arguments, some);
                break;
            case 6:
                execve("/bin/sh", arguments, some);
                break;
            case 7:
                fexecve(shell, arguments, some);
                break;
            default:
                execveat(AT_FDCWD, "/bin/sh", arguments, some, 0);
                break;
            }
            _exit(99);
        }
        say_status("status", pid);
    }
    return 0;
}

/* An exec that gets as far as the kernel and fails there; then everything goes on, and is kept even
 * if the process is killed. */
static int exec_fails(void)
{
    int fd = make_file("file"), script = open("script", O_RDWR | O_CREAT, 0755);

    guest_need(write(script, "\177ELF no program", 15) == 15 && !close(script), "script");
    guest_say("write", write(fd, "0123456789", 10));
    guest_say("execl", execl("script", "script", (char *)NULL));
    guest_say("write", write(fd, "0123456789", 10));
    guest_say("execv", execv("script", (char *[]){"script", NULL}));
    for (int i = 0; i < 100; i++)
        guest_need(write(fd, "0123456789", 10) == 10, "write");
    kill(getpid(), SIGKILL);
    return 0;
}

static void *exec_there(void *argument)
{
    (void)argument;
    execl("/bin/sh", "sh", "-c", "echo after >> file; exit 6", (char *)NULL);
    return NULL;
}

static _Atomic int written;

static void *write_on(void *argument)
{
    int fd = *(int *)argument;

    for (;;) {
        if (pwrite(fd, "x", 1, 0) != 1)
            return NULL;
        written++;
    }
}

/* The other threads write on until they are gone. */
static int exec_from_thread(void)
{
    int fd = make_file("busy");
    pthread_t thread;

    close(make_file("file"));
    for (int i = 0; i < 3; i++)
        guest_need(!pthread_create(&thread, NULL, write_on, &fd), "thread");
    while (written < 1000)
        usleep(100);
    guest_need(!pthread_create(&thread, NULL, exec_there, NULL), "thread");
    pthread_join(thread, NULL);
    return 1;
}

/* --- children in their parent's memory, before they end --------------------------------------- */

/* Descriptors of their own, one on a number that is another file's to the parent. */
static int calls_of_child(void *number)
{
    int own = open("own", O_RDWR | O_CREAT | O_TRUNC, 0644);

    for (int i = 0; i < 5; i++)
        guest_need(write(own, "child", 5) == 5, "write");
    guest_need(dup2(own, *(int *)number) == *(int *)number, "dup2");
    guest_need(write(*(int *)number, "other", 5) == 5, "write");
    guest_need(lseek(own, 0, SEEK_CUR) == 30, "lseek");
    close(own);
    return 11;
}

static char stack_of_caller[1 << 16] __attribute__((aligned(16)));

static int calls_of_children(void)
{
    int fd = fcntl(make_file("file"), F_DUPFD_CLOEXEC, 20);

    for (int i = 0; i < 3; i++) {
        pid_t pid;

        guest_need(write(fd, "parent", 6) == 6, "write");
        if (i == 2) {
            pid =
                clone(calls_of_child, stack_of_caller + sizeof stack_of_caller, CLONE_VM | CLONE_VFORK | SIGCHLD, &fd);
        } else {
            pid = vfork();
            if (pid == 0) {
                calls_of_child(&fd);
                if (i == 0)
                    _exit(11);
                raw_call(SYS_kill, raw_call(SYS_getpid, 0, 0, 0), SIGKILL, 0);
            }
        }
        guest_say("write", write(fd, "PARENT", 6));
        say_status("status", pid);
    }
    return 0;
}

static int blocks_sigterm(pid_t pid)
{
    unsigned long long mask = 0;
    char path[64], line[256];
    FILE *status;

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    status = fopen(path, "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "SigBlk: %llx", &mask) == 1)
            break;
    if (status)
        fclose(status);
    return (mask >> (SIGTERM - 1) & 1) != 0;
}

/* A signal that comes when the child is in _exit comes too late. What takes long there is the tracer's: it blocks
 * signals, and with them this one. Untraced the child is gone. */
static int told_to_end_in_exit(void)
{
    volatile int *leaves = mmap(NULL, sizeof *leaves, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    siginfo_t ended = {0};
    pid_t pid = fork();

    if (pid == 0) {
        int fd = make_file("file");

        for (int i = 0; i < 50000; i++)
            guest_need(pwrite(fd, "x", 1, i) == 1, "pwrite");
        *leaves = 1;
        _exit(7);
    }
    while (!*leaves)
        ;
    while (!blocks_sigterm(pid) && !waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) && !ended.si_pid)
        ;
    kill(pid, SIGTERM);
    say_status("status", pid);
    return 0;
}

/* The parent does not live to say anything of its child. */
static int child_kills_parent(void)
{
    int fd = fcntl(make_file("file"), F_DUPFD_CLOEXEC, 20);

    if (vfork() == 0) {
        calls_of_child(&fd);
        raw_call(SYS_kill, raw_call(SYS_getppid, 0, 0, 0), SIGKILL, 0);
        raw_call(SYS_exit_group, 0, 0, 0);
    }
    return 1;
}

/* The first call of the program is its child's. */
static int child_is_first(void)
{
    pid_t pid = vfork();

    if (pid == 0)
        _exit(open("file", O_RDWR | O_CREAT, 0644) < 0);
    say_status("status", pid);
    return 0;
}

/* --- clone ------------------------------------------------------------------------------------ */

static int shared_fd;
static _Atomic int child_works;
static char stack_of_child[1 << 16] __attribute__((aligned(16)));

static int child_that_closes(void *argument)
{
    guest_need(argument == &shared_fd && pwrite(shared_fd, "child", 5, 1000) == 5, "pwrite");
    close(shared_fd);
    chdir("/");
    child_works = 2;
    return 7;
}

/* The child has a copy of memory and descriptors; or the memory itself while its parent waits; in
 * one way by its own number, too. */
static int clones(void)
{
    static const int kinds[] = {SIGCHLD, CLONE_VM | CLONE_VFORK | SIGCHLD};

    shared_fd = make_file("file");
    for (int i = 0; i < 2; i++) {
        pid_t tid = 0, pid = clone(child_that_closes, stack_of_child + sizeof stack_of_child,
                                   kinds[i] | CLONE_PARENT_SETTID, &shared_fd, &tid);

        guest_say("numbers", pid == tid);
        say_status("status", pid);
        guest_say("write", write(shared_fd, "parent", 6));
        guest_need(access("file", F_OK) == 0, "the working directory");
    }
    guest_say("no stack", clone(child_that_closes, NULL, SIGCHLD, NULL));
    make_file("after");
    return 0;
}

/* The threads' descriptors are one table: a child that closes one closes it for all. */
static int clone_shares_files(void)
{
    pid_t pid;

    shared_fd = make_file("file");
    pid = clone(child_that_closes, stack_of_child + sizeof stack_of_child,
                CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_FS | SIGCHLD, &shared_fd);
    say_status("status", pid);
    guest_say("write", write(shared_fd, "parent", 6));
    guest_need(chdir("/tmp") == 0, "chdir");
    return 0;
}

static int child_that_writes(void *argument)
{
    int own = open("own", O_RDWR | O_CREAT, 0644);

    (void)argument;
    for (int i = 0; i < 5000; i++)
        guest_need(pwrite(own, "child", 5, 5 * i) == 5, "pwrite");
    close(own);
    close(shared_fd);
    child_works = 1;
    return 9;
}

/* Both run at once, on one thread-local memory. */
static int clone_borrows(void)
{
    pid_t pid;
    int made = 0;

    shared_fd = make_file("file");
    pid = clone(child_that_writes, stack_of_child + sizeof stack_of_child, CLONE_VM | SIGCHLD, NULL);
    for (; made < 5000 || !child_works; made++)
        guest_need(pwrite(shared_fd, "parent", 6, made % 5000 * 6) == 6, "pwrite");
    say_status("status", pid);
    for (int i = 0; i < 20000; i++)
        guest_need(write(shared_fd, "0123456789", 10) == 10, "write");
    return 0;
}

const struct guest_case guest_processes[] = {{"vfork_exec", vfork_exec},
                                             {"vfork_fails", vfork_fails},
                                             {"calls_of_children", calls_of_children},
                                             {"told_to_end_in_exit", told_to_end_in_exit},
                                             {"child_kills_parent", child_kills_parent},
                                             {"child_is_first", child_is_first},
                                             {"spawn", spawn},
                                             {"raw_clone", raw_clone},
                                             {"clone_with_stack", clone_with_stack},
                                             {"forks", forks},
                                             {"clones", clones},
                                             {"clone_shares_files", clone_shares_files},
                                             {"clone_borrows", clone_borrows},
                                             {"exec_forms", exec_forms},
                                             {"exec_fails", exec_fails},
                                             {"exec_from_thread", exec_from_thread},
                                             {NULL, NULL}};
