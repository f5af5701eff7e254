/* SPDX-License-Identifier: MIT */
/* Cases about programs that forbid themselves system calls: whatever is not allowed kills. */
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "raw.h"

static int make_file(const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT, 0644);

    guest_need(fd >= 0, name);
    return fd;
}

#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

#ifndef SYS_vfork
#define SYS_vfork SYS_clone
#endif

static int by_syscall;

/* Only what these cases call themselves. */
static void allow_little(int and_processes)
{
    struct sock_filter least[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(read),
        ALLOW(write),
        ALLOW(pwrite64),
        ALLOW(openat),
        ALLOW(close),
        ALLOW(exit_group),
        ALLOW(rt_sigreturn),
        ALLOW(prctl),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_filter more[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(read),
        ALLOW(write),
        ALLOW(pwrite64),
        ALLOW(openat),
        ALLOW(close),
        ALLOW(exit_group),
        ALLOW(clone),
        ALLOW(vfork),
        ALLOW(wait4),
        ALLOW(set_robust_list),
        ALLOW(rt_sigprocmask),
        ALLOW(execve),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof least / sizeof *least, least};

    if (and_processes)
        program = (struct sock_fprog){sizeof more / sizeof *more, more};
    guest_need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no new privileges");
    if (by_syscall)
        guest_need(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0, "filter");
    else
        guest_need(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0, "filter");
}

static void write_tens(int fd, int count)
{
    for (int i = 0; i < count; i++)
        guest_need(write(fd, "0123456789", 10) == 10, "write");
}

/* read, write, _exit and sigreturn are all there is, and the processor's clock is gone. */
static int sandbox_strict(void)
{
    int fd = make_file("file"), in = open("/etc/passwd", O_RDONLY);
    char c;

    write_tens(fd, 100);
    guest_need(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) == 0, "strict");
    write_tens(fd, 1000);
    for (int i = 0; i < 100; i++)
        guest_need(read(in, &c, 1) == 1, "read");
    guest_say("bad", write(-1, "x", 1));
    syscall(SYS_exit, 31);
    return 0;
}

/* More than all rings hold. Files are opened in it, too, by names below the working directory. */
static int sandbox_filter(void)
{
    int fd = make_file("file"), own;

    write_tens(fd, 100);
    allow_little(0);
    write_tens(fd, 60000);
    own = open("own", O_RDWR | O_CREAT, 0644);
    guest_say("own", own >= 0);
    write_tens(own, 5);
    close(own);
    guest_say("missing", open("no/such/file", O_RDONLY));
    guest_say("input", read(0, &(char){0}, 1));
    allow_little(0); /* one more filter, on top */
    exit(32);
}

static int sandbox_small(void)
{
    int fd, own;

    allow_little(0); /* the first event of all */
    fd = make_file("file");
    write_tens(fd, 1000);
    own = make_file("own");
    write_tens(own, 5);
    close(own);
    return 33;
}

static _Atomic int writers;

static void *writing_thread(void *argument)
{
    int fd = make_file("thread");

    (void)argument;
    for (int i = 0; i < 20000; i++) {
        guest_need(write(fd, "0123456789", 10) == 10, "write");
        if (i == 5000)
            writers++;
    }
    writers++;
    for (;;) /* until the process ends: it may make no call that waits */
        if (writers < 0)
            return NULL;
}

/* As libseccomp does it: by system call, for all threads. */
static int sandbox_of_all(void)
{
    struct sock_filter least[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(write),
        ALLOW(exit_group),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof least / sizeof *least, least};
    int fd = make_file("file");
    pthread_t thread;

    guest_need(!pthread_create(&thread, NULL, writing_thread, NULL), "thread");
    while (!writers)
        ;
    guest_need(syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no new privileges");
    guest_say("nothing", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL));
    guest_say("filter", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program));
    write_tens(fd, 1000);
    while (writers < 2)
        ;
    exit(39);
}

/* All through syscall(), seccomp for all threads among it. */
static int sandbox_syscall(void)
{
    int fd = make_file("file");

    guest_say("refused", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL));
    guest_say("strict, refused", syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL));
    by_syscall = 1;
    allow_little(0);
    for (int i = 0; i < 1000; i++)
        guest_need(syscall(SYS_write, fd, "0123456789", 10) == 10, "write");
    guest_say("bad", syscall(SYS_openat, AT_FDCWD, (char *)8, O_RDONLY));
    syscall(SYS_exit_group, 39);
    return 0;
}

/* A program that asks whether there is seccomp at all. */
static int sandbox_fails(void)
{
    int fd = make_file("file");

    for (int i = 0; i < 50; i++) {
        guest_say("filter", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0));
        guest_say("nothing", prctl(PR_SET_SECCOMP, 77, 0, 0, 0));
        write_tens(fd, 1000);
    }
    guest_say("mode", prctl(PR_GET_SECCOMP, 0, 0, 0, 0));
    guest_say("name", prctl(PR_SET_NAME, "guest", 0, 0, 0));
    return 34;
}

/* Children of a sandboxed process have nothing of their own to be recorded in; the parent goes on
 * right. */
static int sandbox_children(void)
{
    int fd = make_file("file"), status = -1;
    pid_t pid;

    allow_little(1);
    write_tens(fd, 10);
    pid = fork();
    if (pid == 0) {
        guest_need(pwrite(fd, "child", 5, 1000) == 5, "pwrite");
        _exit(5);
    }
    guest_need(waitpid(pid, &status, 0) == pid, "wait");
    guest_say("fork", status);
    pid = vfork();
    if (pid == 0) {
        guest_need(pwrite(fd, "vfork", 5, 2000) == 5, "pwrite");
        close(fd);
        _exit(6);
    }
    guest_need(waitpid(pid, &status, 0) == pid, "wait");
    guest_say("vfork", status);
    guest_need(pwrite(fd, "0123456789", 10, 100) == 10, "pwrite");
    guest_say("missing", execl("/no/such/program", "program", (char *)NULL));
    guest_need(pwrite(fd, "0123456789", 10, 110) == 10, "pwrite");
    return 35;
}

/* The child puts itself into a sandbox, in its parent's memory; the parent is in none. */
static int sandbox_in_vfork(void)
{
    int fd = make_file("file"), status = -1;
    pid_t pid = vfork();

    if (pid == 0) {
        allow_little(0);
        guest_need(pwrite(fd, "vfork", 5, 2000) == 5, "pwrite");
        close(fd);
        _exit(6);
    }
    guest_need(waitpid(pid, &status, 0) == pid, "wait");
    guest_say("vfork", status);
    write_tens(fd, 20000);
    return 36;
}

static _Atomic int in_sandbox;

static void *sandboxed_thread(void *argument)
{
    int fd = make_file("thread");

    (void)argument;
    allow_little(0);
    in_sandbox = 1;
    write_tens(fd, 1000);
    in_sandbox = 2;
    while (in_sandbox) /* until the process ends */
        ;
    return NULL;
}

/* A filter is its thread's; the others go on as before, and the process ends clean. */
static int sandbox_of_a_thread(void)
{
    int fd = make_file("file");
    pthread_t thread;

    write_tens(fd, 10);
    guest_need(!pthread_create(&thread, NULL, sandboxed_thread, NULL), "thread");
    while (!in_sandbox)
        usleep(1000);
    write_tens(fd, 20000);
    while (in_sandbox < 2)
        usleep(1000);
    return 37;
}

/* Reading the processor's clock is fatal for a while. */
static int no_clock(void)
{
    int fd = make_file("file");

    write_tens(fd, 10);
    guest_say("off", prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0));
    write_tens(fd, 20000);
    guest_say("on", prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0));
    write_tens(fd, 10);
    guest_say("off", prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0));
    exit(38);
}

/* Whether these paths can be read nobody may ask. */
static int sandbox_texts(void)
{
    const char *path = guest_text_at_the_edge(4096), *bad = guest_text_at_the_edge(10);
    int fd = make_file("file");

    write_tens(fd, 1);
    allow_little(0);
    guest_say("long", open(path, O_RDONLY));
    guest_say("bad", open(bad, O_RDONLY));
    guest_say("missing", open("missing", O_RDONLY));
    exit(40);
}

/* As on a kernel before 5.9. The filter comes unseen: the library does not know that calls are forbidden. */
static int no_close_range(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};

    guest_need(raw_call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0) == 0, "no new privileges");
    guest_need(raw_call(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&program) == 0, "filter");
    for (int i = 0; i < 20; i++)
        make_file("file");
    guest_say("close_range", close_range(10, 12, 0));
    closefrom(5);
    for (int fd = 0; fd < 1100; fd++)
        if (fd < 8 || raw_call(SYS_fcntl, fd, F_GETFD, 0) >= 0)
            guest_say("open", raw_call(SYS_fcntl, fd, F_GETFD, 0) >= 0 ? fd : -1);
    write_tens(make_file("file"), 1000);
    closefrom(3);
    write_tens(make_file("after"), 1000);
    exit(41);
}

const struct guest_case guest_sandbox[] = {{"sandbox_strict", sandbox_strict},
                                           {"sandbox_filter", sandbox_filter},
                                           {"sandbox_small", sandbox_small},
                                           {"sandbox_of_all", sandbox_of_all},
                                           {"sandbox_fails", sandbox_fails},
                                           {"sandbox_syscall", sandbox_syscall},
                                           {"sandbox_children", sandbox_children},
                                           {"sandbox_in_vfork", sandbox_in_vfork},
                                           {"sandbox_of_a_thread", sandbox_of_a_thread},
                                           {"sandbox_texts", sandbox_texts},
                                           {"no_clock", no_clock},
                                           {"no_close_range", no_close_range},
                                           {NULL, NULL}};
