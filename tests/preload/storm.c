/* Eight threads that make traced calls while timer signals fall on them every 50 microseconds, whose handlers make traced calls too
 * and are interrupted by others; threads fork meanwhile, and jump out of handlers. Prints what the trace must hold.
 *
 *   storm DIRECTORY plain|jump|fork CALLS
 *
 * Every pwrite has an offset of its own, so that each call can be looked for in the trace. A call counts as returned when the
 * statement behind it was reached; one that a jump left may be in the trace or not. */
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
#define CALLS_MAX     100000u
#define PERIOD_NS     50000
#define CHILD_CALLS   3u
#define HANDLER_CALLS 400000u

enum how { PLAIN, JUMP, FORK };

struct worker {
    pthread_t thread;
    int number, fd, handler_fd;
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

/* Each level makes one call; the second interrupts the first. */
static void on_timer(int number)
{
    int error = errno;
    uint32_t at = atomic_fetch_add(&self->handled, 1);
    char byte;

    (void)number;
    if (pread(self->handler_fd, &byte, 1, at) < 0)
        fail("pread");
    errno = error;
}

static void on_jump(int number)
{
    (void)number;
    if (self->may_jump) {
        self->may_jump = 0;
        siglongjmp(self->out, 1);
    }
}

static timer_t start_timer(int number, long period_ns)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};
    struct itimerspec period = {{0, period_ns}, {0, period_ns}};
    timer_t timer;

    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &period, NULL))
        fail("timer");
    return timer;
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

static void run(void)
{
    while (self->started < calls) {
        if (how == JUMP && sigsetjmp(self->out, 1))
            self->jumps++;
        self->may_jump = how == JUMP;
        for (uint32_t i = 0; i < 50 && self->started < calls; i++)
            one_call();
        self->may_jump = 0;
        if (how == PLAIN) {
            close(open_file("opened", self->number, O_RDWR | O_CREAT));
            self->opened++;
        }
        if (how == FORK && self->started % 2500 < 50)
            make_child(self->started / 50);
    }
}

static void *work(void *argument)
{
    timer_t timers[3];
    int count = how == JUMP ? 3 : 2;
    sigset_t all;

    self = argument;
    self->fd = open_file("main", self->number, O_RDWR | O_CREAT);
    self->handler_fd = open_file("handler", self->number, O_RDWR | O_CREAT);
    timers[0] = start_timer(SIGRTMIN, PERIOD_NS);
    timers[1] = start_timer(SIGRTMIN + 1, PERIOD_NS + 20000);
    if (count == 3)
        timers[2] = start_timer(SIGRTMIN + 2, PERIOD_NS + 33000);
    run();
    for (int i = 0; i < count; i++)
        timer_delete(timers[i]);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
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
