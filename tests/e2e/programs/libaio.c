/* SPDX-License-Identifier: MIT */
/* Asynchronous I/O through libaio. Usage: libaio DIRECTORY CASE. Prints a line for each request and
 * call, as posix_aio.c does; results of calls are told as libaio's callers see them: -1 and the
 * error for a negative result. */
#include <errno.h>
#include <fcntl.h>
#include <libaio.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifdef WITHOUT_LIBAIO
/* The system calls, as programs make them that have no libaio. */
static int result_of(long result)
{
    return result < 0 ? -errno : (int)result;
}

static const void *signals_of(const sigset_t *mask)
{
    static struct {
        const sigset_t *mask;
        size_t bytes;
    } signals;

    signals.mask = mask;
    signals.bytes = 8;
    return &signals;
}

#define io_setup(events, context)         result_of(syscall(SYS_io_setup, events, context))
#define io_destroy(context)               result_of(syscall(SYS_io_destroy, context))
#define io_submit(context, count, list)   result_of(syscall(SYS_io_submit, context, (long)(count), list))
#define io_cancel(context, iocb, event)   result_of(syscall(SYS_io_cancel, context, iocb, event))
#define io_getevents(context, a, b, c, d) result_of(syscall(SYS_io_getevents, context, (long)(a), (long)(b), c, d))
#define io_pgetevents(context, a, b, c, d, e)                                                                          \
    result_of(syscall(SYS_io_pgetevents, context, (long)(a), (long)(b), c, d, signals_of(e)))
#endif

#define BLOCK 1000
#define DEPTH 64

static char content[BLOCK];
static struct iovec vector[3] = {{content, 100}, {content, 0}, {content, 250}};
static io_context_t context;

static void die(const char *what)
{
    perror(what);
    exit(3);
}

static int open_file(const char *name, int flags)
{
    int fd = open(name, flags | O_CREAT, 0600);

    if (fd < 0)
        die(name);
    return fd;
}

static int tell_call(const char *name, int result)
{
    printf("call %s %d %d\n", name, result < 0 ? -1 : result, result < 0 ? -result : 0);
    return result;
}

static void tell_done(const char *name, const char *file, long long offset, unsigned long size, long result)
{
    printf("done %s %s %lld %lu %ld %ld\n", name, file, offset, size, result < 0 ? -1 : result,
           result < 0 ? -result : 0);
}

static void set_up(void)
{
    if (tell_call("io_setup", io_setup(DEPTH, &context)))
        die("io_setup");
}

static void take_down(void)
{
    tell_call("io_destroy", io_destroy(context));
}

/* What an iocb asks for, in the words of the trace. */
static void tell_event(const char *file, const struct io_event *event, int appends)
{
    static const char *const names[] = {"io_pread", "io_pwrite", "io_fsync",  "io_fdsync", "",
                                        "",         "",          "io_preadv", "io_pwritev"};
    const struct iocb *cb = event->obj;
    int opcode = cb->aio_lio_opcode, sync = opcode == IO_CMD_FSYNC || opcode == IO_CMD_FDSYNC;
    int many = opcode == IO_CMD_PREADV || opcode == IO_CMD_PWRITEV;

    tell_done(names[opcode], file, sync || appends ? -1 : cb->u.c.offset,
              sync   ? 0
              : many ? 350
                     : cb->u.c.nbytes,
              (long)event->res);
}

static void reap(const char *file, int count, int appends)
{
    struct io_event events[DEPTH];
    int n = tell_call("io_getevents", io_getevents(context, count, count, events, NULL));

    for (int i = 0; i < n; i++)
        tell_event(file, &events[i], appends);
}

/* --- the usual -------------------------------------------------------------------------------- */

static void usual(void)
{
    int fd = open_file("usual", O_RDWR);
    struct iocb cbs[10], *list[10];
    struct timespec soon = {0, 1000000};
    struct io_event event;
    sigset_t mask;

    set_up();
    for (int i = 0; i < 10; i++) {
        list[i] = &cbs[i];
        io_prep_pwrite(&cbs[i], fd, content, BLOCK, i * BLOCK);
    }
    tell_call("io_submit", io_submit(context, 10, list));
    reap("usual", 10, 0);
    io_prep_pread(&cbs[0], fd, content, BLOCK, 9 * BLOCK);
    io_prep_pread(&cbs[1], fd, content, BLOCK, 9 * BLOCK + 600); /* short */
    io_prep_pread(&cbs[2], fd, content, BLOCK, 10 * BLOCK);      /* nothing */
    io_prep_preadv(&cbs[3], fd, vector, 3, 77);
    io_prep_pwritev(&cbs[4], fd, vector, 3, 1234);
    io_prep_fsync(&cbs[5], fd);
    io_prep_fdsync(&cbs[6], fd);
    for (int i = 0; i < 7; i++)
        tell_call("io_submit", io_submit(context, 1, &list[i]));
    reap("usual", 3, 0);
    reap("usual", 4, 0);
    tell_call("io_getevents", io_getevents(context, 1, 1, &event, &soon));
    io_prep_pread(&cbs[0], fd, content, BLOCK, 0);
    tell_call("io_submit", io_submit(context, 1, list));
    sigemptyset(&mask);
    if (tell_call("io_pgetevents", io_pgetevents(context, 1, 1, &event, NULL, &mask)) == 1)
        tell_event("usual", &event, 0);
    take_down();
    close(fd);
}

static void appending(void)
{
    int fd = open_file("appending", O_RDWR | O_APPEND);
    struct iocb cb, *list[1] = {&cb};

    set_up();
    for (int i = 0; i < 3; i++) {
        io_prep_pwrite(&cb, fd, content, BLOCK, 7 * BLOCK);
        tell_call("io_submit", io_submit(context, 1, list));
        reap("appending", 1, 1);
        io_prep_pread(&cb, fd, content, BLOCK, i * BLOCK);
        tell_call("io_submit", io_submit(context, 1, list));
        reap("appending", 1, 0);
    }
    take_down();
}

/* One iocb for many requests at once: the kernel has its own copy. */
static void one_block(void)
{
    int fd = open_file("one_block", O_RDWR);
    struct iocb cb, *list[1] = {&cb};
    struct io_event events[30];

    set_up();
    for (int i = 0; i < 30; i++) {
        io_prep_pwrite(&cb, fd, content, (size_t)(100 + i), i * BLOCK);
        cb.data = (void *)(intptr_t)i;
        tell_call("io_submit", io_submit(context, 1, list));
    }
    memset(&cb, 0x55, sizeof cb);
    if (tell_call("io_getevents", io_getevents(context, 30, 30, events, NULL)) == 30)
        for (int i = 0; i < 30; i++) {
            int number = (int)(intptr_t)events[i].data;

            tell_done("io_pwrite", "one_block", number * BLOCK, (unsigned long)(100 + number), (long)events[i].res);
        }
    for (int i = 0; i < 10; i++) { /* and nothing to tell them apart but their order */
        io_prep_pwrite(&cb, fd, content, BLOCK, i * BLOCK);
        tell_call("io_submit", io_submit(context, 1, list));
    }
    if (tell_call("io_getevents", io_getevents(context, 10, 10, events, NULL)) == 10)
        for (int i = 0; i < 10; i++)
            tell_done("io_pwrite", "one_block", i * BLOCK, BLOCK, (long)events[i].res);
    take_down();
    close(fd);
}

/* --- failures --------------------------------------------------------------------------------- */

static void failures(void)
{
    int reader = open_file("failures", O_RDONLY), fd = open_file("failures", O_RDWR);
    long page = sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, (size_t)page * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct iocb good, bad, *list[3] = {&good, NULL, &good}, *across = (struct iocb *)(void *)(pages + page - 32);
    struct iocb **end = (struct iocb **)(void *)(pages + page) - 1;
    struct io_event event;

    mprotect(pages + page, (size_t)page, PROT_NONE);
    tell_call("io_submit", io_submit(NULL, 1, list)); /* no context */
    set_up();
    io_prep_pwrite(&good, fd, content, BLOCK, 0);
    tell_call("io_submit", io_submit(context, 0, list));
    tell_call("io_submit", io_submit(context, -1, list));
    tell_call("io_submit", io_submit(context, 1, NULL));
    tell_call("io_submit", io_submit(context, 1, (struct iocb **)(void *)(pages + page)));
    tell_call("io_submit", io_submit(context, 1, (struct iocb **)16));
    list[0] = NULL;
    tell_call("io_submit", io_submit(context, 1, list));
    list[0] = (struct iocb *)(void *)(pages + page);
    tell_call("io_submit", io_submit(context, 1, list));
    list[0] = across; /* its second half cannot be read */
    tell_call("io_submit", io_submit(context, 1, list));
    list[0] = &good; /* the first is taken, the second is nowhere */
    tell_call("io_submit", io_submit(context, 3, list));
    reap("failures", 1, 0);
    *end = &good; /* the list ends where its page ends, earlier than it says */
    tell_call("io_submit", io_submit(context, 5, end));
    reap("failures", 1, 0);
    list[0] = &bad;
    io_prep_pwrite(&bad, reader, content, BLOCK, 500);
    if (tell_call("io_submit", io_submit(context, 1, list)) == -EBADF)
        tell_done("io_pwrite", "failures", 500, BLOCK, -EBADF);
    io_prep_pwrite(&bad, 9999, content, BLOCK, 0); /* of no file */
    tell_call("io_submit", io_submit(context, 1, list));
    io_prep_pread(&bad, fd, (void *)16, 10, 0); /* found out while it is done */
    if (tell_call("io_submit", io_submit(context, 1, list)) == 1)
        reap("failures", 1, 0);
    io_prep_preadv(&bad, fd, (struct iovec *)(void *)(pages + page), 3, 0);
    if (tell_call("io_submit", io_submit(context, 1, list)) == -EFAULT)
        tell_done("io_preadv", "failures", 0, 0, -EFAULT);
    bad.aio_lio_opcode = 77;
    tell_call("io_submit", io_submit(context, 1, list));
    list[0] = &good; /* taken, though the second is refused; it is the program's still */
    list[1] = &bad;
    tell_call("io_submit", io_submit(context, 2, list));
    reap("failures", 1, 0);
    tell_call("io_cancel", io_cancel(context, &good, &event));
    tell_call("io_getevents", io_getevents(NULL, 0, 1, &event, NULL));
    tell_call("io_destroy", io_destroy(NULL));
    tell_call("io_setup", io_setup(-1, &context));
    context = NULL;
    tell_call("io_setup", io_setup(0, &context));
}

/* The kernel hands a context's room out to processors: how much one submission finds depends on
 * where the program ran before. */
static void stay_on_this_processor(void)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(sched_getcpu(), &set);
    if (sched_setaffinity(0, sizeof set, &set))
        die("sched_setaffinity");
}

/* A context with room for little: what is refused for want of it is no request. */
static void full(void)
{
    int fd = open_file("full", O_RDWR), sent = 0, got = 0;
    static struct iocb cbs[5000], *list[5000];
    static struct io_event events[5000];

    stay_on_this_processor();
    if (tell_call("io_setup", io_setup(1, &context)))
        die("io_setup");
    for (int i = 0; i < 5000; i++) {
        list[i] = &cbs[i];
        io_prep_pwrite(&cbs[i], fd, content, 1, i);
    }
    while (got < 5000) {
        int n = tell_call("io_submit", io_submit(context, 5000 - sent, list + sent));

        sent += n > 0 ? n : 0;
        n = tell_call("io_getevents", io_getevents(context, 0, 5000, events, NULL));
        for (int i = 0; i < n; i++)
            tell_event("full", &events[i], 0);
        got += n;
    }
    take_down();
    close(fd);
}

/* --- the rest --------------------------------------------------------------------------------- */

#ifndef WITHOUT_LIBAIO
static int called_back;

static void call_back(io_context_t ctx, struct iocb *cb, long result, long result2)
{
    (void)ctx;
    (void)result2;
    called_back++;
    tell_done("io_pwrite", "queue", cb->u.c.offset, cb->u.c.nbytes, result);
}

/* The functions on top of the others; those others are what the trace shows. */
static void queue(void)
{
    int fd = open_file("queue", O_RDWR);
    struct iocb cbs[5], *list[5];

    if (io_queue_init(DEPTH, &context))
        die("io_queue_init");
    printf("call io_setup 0 0\n");
    for (int i = 0; i < 5; i++) {
        list[i] = &cbs[i];
        io_prep_pwrite(&cbs[i], fd, content, BLOCK, i * BLOCK);
        io_set_callback(&cbs[i], call_back);
    }
    tell_call("io_submit", io_submit(context, 5, list));
    while (called_back < 5)
        if (io_queue_run(context) < 0)
            die("io_queue_run");
    for (int i = 0; i < 5; i++)
        printf("call io_getevents 1 0\n");
    printf("call io_getevents 0 0\n");
    if (io_queue_release(context))
        die("io_queue_release");
    printf("call io_destroy 0 0\n");
    close(fd);
}

#else
static void queue(void) {}
#endif

static int threads_fd;

static void *reaper(void *nothing)
{
    for (int got = 0; got < 2000;) {
        struct io_event events[7];
        int n = tell_call("io_getevents", io_getevents(context, 1, 7, events, NULL));

        for (int i = 0; i < n; i++) {
            tell_event("threads", &events[i], 0);
            memset(events[i].obj, 0x55, sizeof *events[i].obj);
            free(events[i].obj);
        }
        got += n;
    }
    return nothing;
}

/* Another thread frees the iocbs, perhaps before io_submit has returned. */
static void threads(void)
{
    pthread_t thread;

    threads_fd = open_file("threads", O_RDWR);
    set_up();
    if (pthread_create(&thread, NULL, reaper, NULL))
        die("pthread_create");
    for (int i = 0; i < 1000; i++) {
        struct iocb *list[2];
        int n = 0;

        for (int k = 0; k < 2; k++) {
            list[k] = malloc(sizeof **list);
            io_prep_pwrite(list[k], threads_fd, content, 10, (i * 2 + k) * 10);
        }
        while (n < 2) {
            int result = io_submit(context, 2 - n, list + n);

            tell_call("io_submit", result);
            n += result > 0 ? result : 0;
        }
    }
    pthread_join(thread, NULL);
    take_down();
    close(threads_fd);
}

/* Nobody takes the completions of the one context, nor of the other, which is there at the end of
 * the process. */
static void left(void)
{
    int fd = open_file("left", O_RDWR);
    struct iocb cb, *list[1] = {&cb};

    for (int i = 0; i < 2; i++) {
        context = NULL;
        set_up();
        io_prep_pwrite(&cb, fd, content, BLOCK, i * BLOCK);
        tell_call("io_submit", io_submit(context, 1, list));
        printf("begun io_pwrite left %d %d\n", i * BLOCK, BLOCK);
        if (i == 0)
            take_down();
    }
}

static void closing(void)
{
    int fd = open_file("closing", O_RDWR);
    struct iocb cb, *list[1] = {&cb};

    set_up();
    io_prep_pwrite(&cb, fd, content, BLOCK, 0);
    tell_call("io_submit", io_submit(context, 1, list));
    close(fd);
    fd = open_file("another", O_RDWR);
    reap("closing", 1, 0);
    take_down();
    close(fd);
}

int libaio_main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"usual", usual},       {"appending", appending}, {"one_block", one_block},
                 {"failures", failures}, {"full", full},           {"queue", queue},
                 {"threads", threads},   {"left", left},           {"closing", closing}};

    if (argc != 3 || chdir(argv[1]))
        return 2;
    memset(content, 'x', sizeof content);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(argv[2], cases[i].name)) {
            cases[i].run();
            return 0;
        }
    return 2;
}

#ifndef AS_LIBRARY
int main(int argc, char **argv)
{
    return libaio_main(argc, argv);
}
#endif
