/* SPDX-License-Identifier: MIT */
/* Things that programs do which a tracer in the same process easily breaks. One case a run; prints
 * what it saw.
 *
 * usage: rude CASE FILE     (cases: the table at the end)
 * Each case does a number of writes of 10 bytes to FILE, and prints "writes N" at its end. */
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../preload/raw.h"

static const char *path;
static volatile long writes;
static int file = -1;

static void say(const char *text)
{
    if (write(STDOUT_FILENO, text, strlen(text)) < 0)
        _exit(90);
}

static void say_writes(void)
{
    char text[64];

    snprintf(text, sizeof(text), "writes %ld\n", writes);
    say(text);
}

static void ten(int fd)
{
    if (write(fd, "0123456789", 10) == 10)
        __atomic_fetch_add(&writes, 1, __ATOMIC_RELAXED);
}

static int open_file(void)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);

    if (fd < 0)
        _exit(91);
    return fd;
}

/* --- signals ---------------------------------------------------------------------------------- */

static volatile sig_atomic_t alarms;
static sigjmp_buf back;

static void write_in_handler(int number)
{
    int saved = errno;

    (void)number;
    alarms++;
    ten(file);
    errno = saved;
}

static void start_timer(void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    struct itimerval often = {{0, 200}, {0, 200}};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

static void stop_timer(void)
{
    struct itimerval never = {{0, 0}, {0, 0}};

    setitimer(ITIMER_REAL, &never, NULL);
}

static void handler_writes(void)
{
    start_timer(write_in_handler, SA_RESTART);
    while (alarms < 300)
        ten(file);
    stop_timer();
}

static void handler_on_its_own_stack(void)
{
    stack_t stack = {.ss_size = 16384};

    stack.ss_sp = malloc(stack.ss_size);
    sigaltstack(&stack, NULL);
    start_timer(write_in_handler, SA_RESTART | SA_ONSTACK);
    while (alarms < 300)
        ten(file);
    stop_timer();
}

static void jump_out(int number)
{
    (void)number;
    alarms++;
    siglongjmp(back, 1);
}

/* A jump can leave the write itself: done, not counted. So there are fewer here than in the file,
 * never more. */
static void handler_jumps_out_of_calls(void)
{
    struct itimerval never = {{0, 0}, {0, 0}};

    sigsetjmp(back, 1);
    if (alarms == 0)
        start_timer(jump_out, 0);
    while (alarms < 200)
        ten(file);
    setitimer(ITIMER_REAL, &never, NULL);
}

/* --- threads ---------------------------------------------------------------------------------- */

static void *write_some(void *argument)
{
    for (long i = 0; i < (long)argument; i++)
        ten(file);
    return NULL;
}

static void tiny_stacks(void)
{
    pthread_attr_t attributes;
    pthread_t threads[8];

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN));
    for (int i = 0; i < 8; i++)
        if (pthread_create(&threads[i], &attributes, write_some, (void *)3000) != 0)
            _exit(92);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
}

static void many_short_threads(void)
{
    for (int i = 0; i < 500; i++) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, write_some, (void *)2) != 0)
            _exit(92);
        pthread_join(thread, NULL);
    }
}

static void *until_cancelled(void *argument)
{
    (void)argument;
    for (;;) {
        ten(file);
        pthread_testcancel();
    }
    return NULL;
}

static void cancelled_threads(void)
{
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        void *result;

        if (pthread_create(&thread, NULL, until_cancelled, NULL) != 0)
            _exit(92);
        usleep(500);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        if (result != PTHREAD_CANCELED)
            _exit(93);
    }
}

static void threads_at_exit(void)
{
    pthread_t thread;

    for (int i = 0; i < 3; i++)
        if (pthread_create(&thread, NULL, until_cancelled, NULL) != 0)
            _exit(92);
    usleep(20000);
}

static void fork_with_threads(void)
{
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, until_cancelled, NULL) != 0)
            _exit(92);
    for (int i = 0; i < 50; i++) {
        int status;
        pid_t pid = fork();

        if (pid == 0) {
            long before = writes;

            write_some((void *)5);
            _exit(writes - before == 5 ? 0 : 1);
        }
        if (waitpid(pid, &status, 0) != pid || status)
            _exit(94);
    }
    for (int i = 0; i < 2; i++) {
        pthread_cancel(threads[i]);
        pthread_join(threads[i], NULL);
    }
    writes += 50 * 5; /* of the children */
}

/* --- descriptors ------------------------------------------------------------------------------ */

static void closes_everything(void)
{
    for (int fd = 3; fd < 1100; fd++)
        close(fd);
    file = open_file();
    ten(file);
    if (close_range(3, ~0U, 0) < 0)
        _exit(95);
    file = open_file();
    ten(file);
    closefrom(3);
    file = open_file();
    ten(file);
}

static void takes_every_number(void)
{
    for (int fd = 10; fd < 1000; fd++)
        if (dup2(file, fd) != fd)
            _exit(96);
    for (int fd = 10; fd < 1000; fd++)
        ten(fd);
    for (int fd = 10; fd < 1000; fd++)
        close(fd);
    ten(file);
}

static void few_descriptors(void)
{
    struct rlimit limit = {20, 20};
    int fds[30], n = 0;

    setrlimit(RLIMIT_NOFILE, &limit);
    while ((fds[n] = open(path, O_WRONLY | O_APPEND)) >= 0)
        ten(fds[n++]);
    printf("%d more, then %s\n", n, strerror(errno));
    fflush(stdout);
}

static void reuses_numbers(void)
{
    int other = open("/dev/null", O_WRONLY), fd;

    for (int i = 0; i < 200; i++) {
        fd = open_file();
        ten(fd);
        dup2(other, fd); /* the same number, another file */
        if (write(fd, "nothing", 7) != 7)
            _exit(97);
        close(fd);
    }
}

/* --- memory, time, state ---------------------------------------------------------------------- */

static void keeps_errno_and_rounding(void)
{
    int wrong = 0;

    fesetround(FE_UPWARD);
    for (int i = 0; i < 5000; i++) {
        errno = 4711;
        ten(file);
        wrong += errno != 4711 || fegetround() != FE_UPWARD;
        wrong += write(-1, "x", 1) != -1 || errno != EBADF;
        wrong += open("/nonexistent/x", O_RDONLY) != -1 || errno != ENOENT;
    }
    printf("wrong %d\n", wrong);
    fflush(stdout);
}

static void faulty_pointers(void)
{
    char *volatile bad = (char *)8, *volatile null = NULL; /* volatile: the compiler must not see what this is */
    int wrong = 0;

    wrong += write(file, bad, 10) != -1 || errno != EFAULT;
    wrong += open(bad, O_RDONLY) != -1 || errno != EFAULT;
    wrong += open(null, O_RDONLY) != -1 || errno != EFAULT;
    wrong += rename(bad, bad) != -1 || errno != EFAULT;
    wrong += open("", O_RDONLY) != -1 || errno != ENOENT;
    printf("wrong %d\n", wrong);
    fflush(stdout);
    ten(file);
}

static void no_memory(void)
{
    struct rlimit limit = {64 << 20, 64 << 20};

    setrlimit(RLIMIT_AS, &limit);
    while (malloc(1 << 16))
        ;
    write_some((void *)2000);
}

static int thread_of_clone(void *argument)
{
    (void)argument;
    ten(file);
    return 0;
}

static void clone_with_shared_memory(void)
{
    char *stack = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    for (int i = 0; i < 20; i++) {
        int status;
        pid_t pid = clone(thread_of_clone, stack + (1 << 16), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);

        if (waitpid(pid, &status, 0) != pid || status)
            _exit(94);
    }
}

/* Number and file that a child which shares the descriptors puts there, after a while. */
struct taking {
    int number, fd;
    long turns;
};

static int take_number(void *argument)
{
    const struct taking *taking = argument;

    for (volatile long i = 0; i < taking->turns; i++)
        ;
    raw_call(SYS_dup3, taking->fd, taking->number, 0);
    raw_call(SYS_exit, 0, 0, 0);
    return 0;
}

static void begin_while_number_is_taken(char *stack, int other, long turns)
{
    struct taking taking = {.fd = other, .turns = turns};
    pid_t pid;
    int status;

    taking.number = (int)raw_call(SYS_dup, other, 0, 0);
    raw_call(SYS_close, taking.number, 0, 0);
    pid = clone(take_number, stack + (1 << 16), CLONE_VM | CLONE_FILES | SIGCHLD, &taking);
    ten(file);
    _exit(waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 94);
}

/* Who looks for a free number, and has a clone put a file on it, hits what opens files in between:
 * nothing may come into that file. */
static void clone_takes_free_number(void)
{
    static char zeros[1 << 16], now[1 << 16];
    char *stack = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int other = memfd_create("other", 0);

    if (other < 0 || pwrite(other, zeros, sizeof zeros, 0) != sizeof zeros)
        _exit(92);
    for (int i = 0; i < 400; i++) {
        int status;
        pid_t pid = fork();

        if (pid == 0)
            begin_while_number_is_taken(stack, other, i % 80 * 1000);
        if (waitpid(pid, &status, 0) != pid || status)
            _exit(94);
    }
    if (lseek(other, 0, SEEK_END) != sizeof zeros || pread(other, now, sizeof now, 0) != sizeof now ||
        memcmp(now, zeros, sizeof now))
        _exit(95);
    writes += 400;
}

static void raw_fork(void)
{
    for (int i = 0; i < 20; i++) {
        int status;
        pid_t pid = (pid_t)(i % 2 ? syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : raw_call(SYS_clone, SIGCHLD, 0, 0));

        if (pid == 0) {
            ten(file);
            _exit(0);
        }
        if (waitpid(pid, &status, 0) != pid || status)
            _exit(94);
    }
    writes += 20;
}

static void write_at_exit(void)
{
    ten(file);
    say_writes();
}

static void in_atexit(void)
{
    atexit(write_at_exit);
    write_some((void *)10);
}

static void plain(void)
{
    write_some((void *)10000);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"plain", plain},
             {"handler_writes", handler_writes},
             {"handler_on_its_own_stack", handler_on_its_own_stack},
             {"handler_jumps_out_of_calls", handler_jumps_out_of_calls},
             {"tiny_stacks", tiny_stacks},
             {"many_short_threads", many_short_threads},
             {"cancelled_threads", cancelled_threads},
             {"threads_at_exit", threads_at_exit},
             {"fork_with_threads", fork_with_threads},
             {"closes_everything", closes_everything},
             {"takes_every_number", takes_every_number},
             {"few_descriptors", few_descriptors},
             {"reuses_numbers", reuses_numbers},
             {"keeps_errno_and_rounding", keeps_errno_and_rounding},
             {"faulty_pointers", faulty_pointers},
             {"no_memory", no_memory},
             {"clone_with_shared_memory", clone_with_shared_memory},
             {"clone_takes_free_number", clone_takes_free_number},
             {"raw_fork", raw_fork},
             {"in_atexit", in_atexit}};

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "list") == 0) {
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
            puts(cases[i].name);
        return 0;
    }
    if (argc != 3)
        return 2;
    path = argv[2];
    file = open_file();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            if (cases[i].run != in_atexit)
                say_writes();
            return 0;
        }
    return 2;
}
