/* SPDX-License-Identifier: MIT */
/* A signal after every single machine instruction of a wrapper: the processor's trap flag sends
 * SIGTRAP after each, so that every place where a handler can fall into an append is tried, and
 * none is left to chance. x86-64 only.
 *
 *   step DIRECTORY call KIND FROM TO
 *                                the handler makes a traced call, at every instruction; FROM, FROM + 1 ... calls were made before, so
 *                                that drains and the growth of the ring come at every instruction too (a child process each)
 *   step DIRECTORY jump KIND [STRIDE]
 *                                the handler jumps out of the n-th instruction, for every n (or one in STRIDE)
 *   step DIRECTORY fork KIND [STRIDE]
 *                                the handler forks at the n-th; the child makes calls there and goes on
 *   step DIRECTORY child KIND [STRIDE]
 *                                the handler forks at the n-th; the child goes on at once
 *   step DIRECTORY once KIND [STRIDE]
 *                                the handler makes a traced call at the n-th alone
 *   step DIRECTORY region KIND   the handler begins and ends a region
 *   step DIRECTORY exit KIND [STRIDE]
 *                                the thread waits at the n-th while another ends the process, and goes on when the trace has its
 *                                end (a child process each)
 *
 * KIND: what is stepped through: pwrite, open (and close), stat, region, read and lseek (of a
 * descriptor that the handler of `read` reads, too), getc (of a stream with a buffer of two
 * letters), refill (getc with a buffer of one), dup2. Prints what the trace must hold. */
#include <dftrace/dftrace.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "raw.h"

#if defined(__x86_64__)
#define TRAP_FLAG 0x100
#define STEPS_MAX 20000u

enum what { WHAT_CALL, WHAT_ONCE, WHAT_JUMP, WHAT_FORK, WHAT_CHILD, WHAT_EXIT, WHAT_REGION };

struct counts {
    uint32_t handled;  /* calls of the handler that returned: offsets 0, 1 ... of "handler" */
    uint32_t made;     /* pwrites that returned */
    uint32_t started;  /* pwrites: offsets 0, 1 ... of "main" */
    uint32_t stepped;  /* stepped calls that returned */
    uint32_t left;     /* stepped calls that were left by a jump */
    uint32_t children; /* calls of forked children that returned */
    uint32_t regions;  /* of the handler */
};

static struct counts *counts; /* shared with children */
static enum what what;
static const char *kind;
static char main_path[4096], stepped_path[4096];
static char shared_path[4096];
static int main_fd, handler_fd, child_fd, shared_fd;
static FILE *letters;
static uint32_t step, stop_at;
static sigjmp_buf out;
static int in_child, with_steps = 1;
static _Atomic int may_end;
static int full_pipe[2];

static void fail(const char *why)
{
    fprintf(stderr, "step: %s: %s\n", why, strerror(errno));
    _exit(99);
}

static void handler_call(void)
{
    char byte, three[3];

    if ((!strcmp(kind, "read") || !strcmp(kind, "lseek")) && read(shared_fd, three, 3) != 3)
        fail("read");
    if (pread(handler_fd, &byte, 1, counts->handled) < 0)
        fail("pread");
    counts->handled++;
}

static void handler_fork(ucontext_t *context)
{
    int unseen =
        step % 3 == 2 && what != WHAT_CHILD; /* then nobody tells the child that it is one before its first call */
    pid_t pid = step % 3 == 0 ? fork()
                : unseen      ? (pid_t)raw_call(SYS_clone, SIGCHLD, 0, 0)
                              : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    int status = 0;

    if (pid < 0)
        fail("fork");
    if (pid == 0) {
        in_child = 1;
        for (int i = 0; i < 3 && what == WHAT_FORK; i++) {
            if (pwrite(child_fd, "c", 1, counts->children) != 1)
                _exit(98);
            counts->children++;
        }
        context->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
        return;
    }
    if (waitpid(pid, &status, 0) != pid || status) {
        errno = status;
        fail("the child's status");
    }
}

/* Longer than the library waits for a record that another thread has begun. */
static void handler_wait(void)
{
    const struct timespec while_it_ends = {0, 25000000};

    atomic_store(&may_end, 1);
    syscall(SYS_nanosleep, &while_it_ends, NULL);
}

/* A trap while the signal is blocked would kill: the stepping ends where the wrapper is about to
 * block signals. */
static int is_about_to_block(const ucontext_t *context)
{
    const uint8_t *at = (const uint8_t *)context->uc_mcontext.gregs[REG_RIP];

    return at[0] == 0x0f && at[1] == 0x05 && context->uc_mcontext.gregs[REG_RAX] == SYS_rt_sigprocmask;
}

static void on_trap(int number, siginfo_t *info, void *argument)
{
    ucontext_t *context = argument;
    int error = errno;

    (void)number;
    (void)info;
    if (is_about_to_block(context) || step >= STEPS_MAX)
        context->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    step++;
    if (what == WHAT_CALL) {
        handler_call();
    } else if (what == WHAT_REGION) {
        DFTRACE_BEGIN("handler");
        DFTRACE_ARG_INT("h", 7);
        DFTRACE_END("handler");
        counts->regions++;
    } else if (step == stop_at) {
        context->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
        if (what == WHAT_JUMP)
            siglongjmp(out, 1);
        if (what == WHAT_FORK || what == WHAT_CHILD)
            handler_fork(context);
        else if (what == WHAT_ONCE)
            handler_call();
        else
            handler_wait();
    }
    errno = error;
}

static inline __attribute__((always_inline)) void stepping(int on)
{
    if (on)
        __asm__ volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), %%rsp"
                         :
                         :
                         : "memory", "cc");
    else
        __asm__ volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), %%rsp"
                         :
                         :
                         : "memory", "cc");
}

/* A call without steps. */
static void plain_call(void)
{
    if (pwrite(main_fd, "x", 1, counts->started++) != 1)
        fail("pwrite");
    counts->made++;
}

static void stepped_call(void)
{
    struct stat st;
    int fd;

    step = 0;
    if (!strcmp(kind, "pwrite")) {
        uint32_t at = counts->stepped + counts->left;

        stepping(with_steps);
        fd = (int)pwrite(child_fd, "s", 1, 1000000 + at);
        stepping(0);
    } else if (!strcmp(kind, "open")) {
        stepping(with_steps);
        fd = open(stepped_path, O_RDWR | O_CREAT, 0644);
        stepping(0);
        if (fd >= 0)
            close(fd);
    } else if (!strcmp(kind, "stat")) {
        stepping(with_steps);
        fd = stat(stepped_path, &st);
        stepping(0);
    } else if (!strcmp(kind, "read")) {
        char byte;

        stepping(with_steps);
        fd = (int)read(shared_fd, &byte, 1);
        stepping(0);
    } else if (!strcmp(kind, "lseek")) {
        stepping(with_steps);
        fd = (int)lseek(shared_fd, 0, SEEK_CUR);
        stepping(0);
    } else if (!strcmp(kind, "getc") || !strcmp(kind, "refill")) {
        stepping(with_steps);
        fd = getc(letters);
        stepping(0);
    } else if (!strcmp(kind, "dup2")) {
        stepping(with_steps);
        fd = dup2(shared_fd, 77);
        stepping(0);
    } else {
        fd = 0;
        stepping(with_steps);
        DFTRACE_BEGIN("stepped");
        DFTRACE_ARG_INT("n", 1);
        DFTRACE_END("stepped");
        stepping(0);
    }
    if (in_child)
        _exit(fd < 0);
    if (fd < 0)
        fail(kind);
    counts->stepped++;
}

/* How many instructions the stepped call has. */
static uint32_t count_steps(void)
{
    stop_at = 0;
    stepped_call(); /* the first one defines names */
    stepped_call();
    return step;
}

/* In a child each: the calls before put drains and the growth of the ring at another instruction
 * each time. */
static void fill_and_step(uint32_t fill)
{
    pid_t pid = fork();
    int status;

    if (pid < 0)
        fail("fork");
    if (pid == 0) {
        close(shared_fd); /* its own, from the beginning */
        shared_fd = open(shared_path, O_RDONLY);
        with_steps = 0; /* names are defined, and slow paths taken, without steps */
        stepped_call();
        handler_call();
        with_steps = 1;
        for (uint32_t i = 0; i < fill; i++)
            plain_call();
        stepped_call();
        plain_call();
        exit(0);
    }
    if (waitpid(pid, &status, 0) != pid || status) {
        errno = 0;
        fprintf(stderr, "step: with %u calls before: status %#x\n", fill, (unsigned)status);
        exit(97);
    }
}

static void at_every_instruction(uint32_t stride)
{
    uint32_t steps = count_steps();

    for (volatile uint32_t n = 1; n <= steps; n += stride) {
        stop_at = n;
        if (sigsetjmp(out, 1) == 0)
            stepped_call();
        else
            counts->left++;
        plain_call();
    }
}

/* Makes its stepped call, and lets the process go when that has returned. */
static void *step_and_release(void *argument)
{
    static char bytes[1 << 20];

    (void)argument;
    with_steps = 0;
    stepped_call();
    plain_call();
    with_steps = 1;
    stepped_call();
    atomic_store(&may_end, 1);
    while (syscall(SYS_read, full_pipe[0], bytes, sizeof bytes) > 0)
        ;
    return NULL;
}

/* After the library's destructor the C library writes out its streams: into a pipe that is full
 * until the thread is ready. */
static void end_meanwhile(void)
{
    static char bytes[1 << 12];
    pthread_t thread;
    FILE *stream;

    if (pipe2(full_pipe, O_NONBLOCK) || !(stream = fdopen(full_pipe[1], "w")))
        fail("pipe");
    while (write(full_pipe[1], bytes, sizeof bytes) > 0)
        ;
    fcntl(full_pipe[1], F_SETFL, 0);
    fcntl(full_pipe[0], F_SETFL, 0);
    fputs("written at the end", stream);
    if (pthread_create(&thread, NULL, step_and_release, NULL))
        fail("thread");
    while (!atomic_load(&may_end))
        usleep(100);
    exit(0);
}

static void end_at_every_instruction(uint32_t stride)
{
    uint32_t steps = count_steps();

    for (uint32_t n = 1; n <= steps; n += stride) {
        pid_t pid = fork();
        int status;

        stop_at = n;
        if (pid == 0)
            end_meanwhile();
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
            fail("a child that ends");
    }
}

static void open_files(const char *directory)
{
    static char buffer[2];
    char path[4096];

    snprintf(main_path, sizeof main_path, "%s/main", directory);
    snprintf(stepped_path, sizeof stepped_path, "%s/stepped", directory);
    main_fd = open(main_path, O_RDWR | O_CREAT, 0644);
    snprintf(path, sizeof path, "%s/handler", directory);
    handler_fd = open(path, O_RDWR | O_CREAT, 0644);
    snprintf(path, sizeof path, "%s/child", directory);
    child_fd = open(path, O_RDWR | O_CREAT, 0644);
    close(open(stepped_path, O_RDWR | O_CREAT, 0644));
    snprintf(shared_path, sizeof shared_path, "%s/shared", directory);
    shared_fd = open(shared_path, O_RDWR | O_CREAT, 0644);
    snprintf(path, sizeof path, "%s/stream", directory);
    letters = fopen(path, "w+");
    if (!letters || ftruncate(fileno(letters), 1 << 20) || ftruncate(shared_fd, 1 << 30) ||
        setvbuf(letters, buffer, _IOFBF, strcmp(kind, "getc") ? 1 : 2))
        fail(path);
    if (main_fd < 0 || handler_fd < 0 || child_fd < 0)
        fail(directory);
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

    if (argc < 4)
        return 2;
    what = !strcmp(argv[2], "call")    ? WHAT_CALL
           : !strcmp(argv[2], "jump")  ? WHAT_JUMP
           : !strcmp(argv[2], "fork")  ? WHAT_FORK
           : !strcmp(argv[2], "once")  ? WHAT_ONCE
           : !strcmp(argv[2], "child") ? WHAT_CHILD
           : !strcmp(argv[2], "exit")  ? WHAT_EXIT
                                       : WHAT_REGION;
    kind = argv[3];
    counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGTRAP, &action, NULL);
    open_files(argv[1]);
    if (what == WHAT_CALL && argc == 6)
        for (int fill = atoi(argv[4]); fill < atoi(argv[5]); fill++)
            fill_and_step((uint32_t)fill);
    else if (what == WHAT_REGION)
        count_steps();
    else if (what == WHAT_EXIT)
        end_at_every_instruction(argc == 5 ? (uint32_t)atoi(argv[4]) : 1);
    else
        at_every_instruction(argc == 5 ? (uint32_t)atoi(argv[4]) : 1);
    printf("handled %u made %u started %u stepped %u left %u children %u regions %u\n", counts->handled, counts->made,
           counts->started, counts->stepped, counts->left, counts->children, counts->regions);
    return 0;
}
#else
int main(void)
{
    puts("not on this processor");
    return 77;
}
#endif
