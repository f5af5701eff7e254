/* SPDX-License-Identifier: MIT */
/* Eight threads that make traced calls while timer signals fall on them, 50 microseconds after the
 * last was handled, whose handlers make traced calls too and are interrupted by others; threads
 * fork meanwhile, and jump out of handlers. Prints what the trace must hold.
 *
 *   storm DIRECTORY plain|jump|fork CALLS
 *
 * Each thread makes that many calls, and goes on until enough signals have met it, however fast the
 * machine and coarse its timers are.
 *
 * Every pwrite has an offset of its own, so that each call can be looked for in the trace. A call
 * counts as returned when the statement behind it was reached; one that a jump left may be in the
 * trace or not. */
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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "raw.h"

#define THREADS       8
#define CALLS_MAX     200000u
#define DELAY_NS      50000
#define SIGNALS_LEAST 200u
#define JUMPS_LEAST   50u
#define TIMERS        3
#define CHILD_CALLS   3u
#define HANDLER_CALLS 400000u

enum how { PLAIN, JUMP, FORK };

struct worker {
    pthread_t thread;
    int number, fd, handler_fd;
    timer_t timers[TIMERS];
    uint32_t started, opened;
    uint8_t returned[CALLS_MAX];
    _Atomic uint32_t handled;
    volatile sig_atomic_t may_jump;
    uint32_t jumps;
    sigjmp_buf out;
};

static struct worker workers[THREADS];
static _Atomic uint32_t *children; /* calls that children made; shared with them */
static enum how how;
static uint32_t calls;
static const char *directory;
static __thread struct worker *self;

static void fail(const char *what)
{
    fprintf(stderr, "storm: %s: %s\n", what, strerror(errno));
    _exit(99);
}

static int open_file(const char *name, int number, int flags)
{
    char path[4096];
    int fd;

    snprintf(path, sizeof path, "%s/%s%d", directory, name, number);
    fd = open(path, flags, 0644);
    if (fd < 0)
        fail(path);
    return fd;
}

/* Once: the next comes when this one has been handled, so that a slow machine finds time for
 * something else, too. */
static void set_timer(int number)
{
    int which = number - SIGRTMIN;
    struct itimerspec once = {.it_value = {0, DELAY_NS + 17000 * which}};

    if (timer_settime(self->timers[which], 0, &once, NULL))
        fail("timer");
}

/* Each level makes one call; the second interrupts the first. */
static void on_timer(int number)
{
    int error = errno;
    uint32_t at = atomic_fetch_add(&self->handled, 1);
    char byte;

    if (pread(self->handler_fd, &byte, 1, at) < 0)
        fail("pread");
    set_timer(number);
    errno = error;
}

static void on_jump(int number)
{
    set_timer(number);
    if (self->may_jump) {
        self->may_jump = 0;
        siglongjmp(self->out, 1);
    }
}

static void start_timer(int number)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};

    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    if (timer_create(CLOCK_MONOTONIC, &event, &self->timers[number - SIGRTMIN]))
        fail("timer");
    set_timer(number);
}

/* In the child of a thread, while others hold whatever they held. */
static void child(int number)
{
    int fd = open_file("child", 0, O_RDWR);

    for (uint32_t i = 0; i < CHILD_CALLS; i++)
        if (pwrite(fd, "c", 1, (off_t)atomic_fetch_add(children, 1)) != 1)
            _exit(98);
    (void)number;
    _exit(0);
}

static void make_child(uint32_t i)
{
    pid_t pid =
        i % 3 == 0 ? fork()
                   : (pid_t)(i % 3 == 1 ? syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : raw_call(SYS_clone, SIGCHLD, 0, 0));
    int status;

    if (pid == 0)
        child(self->number);
    while (pid > 0 && waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            fail("waitpid");
    if (pid < 0 || status)
        fail("a child failed");
}

static void one_call(void)
{
    uint32_t at = self->started++;

    if (pwrite(self->fd, "x", 1, at) != 1)
        fail("pwrite");
    self->returned[at] = 1;
}

static int is_over(void)
{
    return self->started == CALLS_MAX || (self->started >= calls && atomic_load(&self->handled) >= SIGNALS_LEAST &&
                                          (how != JUMP || self->jumps >= JUMPS_LEAST));
}

static void run(void)
{
    while (!is_over()) {
        if (how == JUMP && sigsetjmp(self->out, 1)) {
            self->jumps++;
            for (int i = 0; i < TIMERS; i++) /* their handlers may have been left before they could do it */
                set_timer(SIGRTMIN + i);
        }
        self->may_jump = how == JUMP;
        for (uint32_t i = 0; i < 50 && self->started < CALLS_MAX; i++)
            one_call();
        self->may_jump = 0;
        if (how == PLAIN) {
            close(open_file("opened", self->number, O_RDWR | O_CREAT));
            self->opened++;
        }
        if (how == FORK && self->started % 2500 < 50 && self->started <= calls)
            make_child(self->started / 50);
    }
}

static void *work(void *argument)
{
    int count = how == JUMP ? TIMERS : TIMERS - 1;
    sigset_t all;

    self = argument;
    self->fd = open_file("main", self->number, O_RDWR | O_CREAT);
    self->handler_fd = open_file("handler", self->number, O_RDWR | O_CREAT);
    for (int i = 0; i < count; i++)
        start_timer(SIGRTMIN + i);
    run();
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (int i = 0; i < count; i++)
        timer_delete(self->timers[i]);
    return NULL;
}

static void set_handlers(void)
{
    struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};

    sigaction(SIGRTMIN, &action, NULL);
    sigaction(SIGRTMIN + 1, &action, NULL);
    action.sa_handler = on_jump;
    sigaction(SIGRTMIN + 2, &action, NULL);
}

static void print_returned(const struct worker *worker)
{
    uint32_t left = 0;

    printf("main%d", worker->number);
    for (uint32_t i = 0; i < worker->started; i++)
        left += !worker->returned[i];
    printf(" started %u left %u", worker->started, left);
    for (uint32_t i = 0; left && i < worker->started; i++)
        if (!worker->returned[i])
            printf(" %u", i);
    printf("\n");
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    directory = argv[1];
    how = !strcmp(argv[2], "jump") ? JUMP : !strcmp(argv[2], "fork") ? FORK : PLAIN;
    calls = (uint32_t)atoi(argv[3]);
    if (calls > CALLS_MAX)
        return 2;
    children = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    set_handlers();
    close(open_file("child", 0, O_RDWR | O_CREAT));
    for (int i = 0; i < THREADS; i++) {
        workers[i].number = i;
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
            fail("pthread_create");
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < THREADS; i++) {
        print_returned(&workers[i]);
        printf("handler%d handled %u\nopened%d opened %u\njumps%d jumps %u\n", i, atomic_load(&workers[i].handled), i,
               workers[i].opened, i, workers[i].jumps);
    }
    printf("child0 children %u\n", atomic_load(children));
    return 0;
}
