/* SPDX-License-Identifier: MIT */
/* POSIX asynchronous I/O in every way to submit, wait and be told. Usage: posix_aio DIRECTORY CASE.
 * Prints a line for each request:
 *
 *   done NAME FILE OFFSET SIZE RESULT ERRNO      as aio_return and aio_error say; OFFSET -1 where it appends
 *   begun NAME FILE OFFSET SIZE                  of which the program never asks for the end
 *   call NAME RESULT ERRNO                       a call that waits for, lists or cancels requests
 */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCK 1000

static char content[BLOCK];

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

static struct aiocb request(int fd, int number)
{
    struct aiocb cb;

    memset(&cb, 0, sizeof cb);
    cb.aio_fildes = fd;
    cb.aio_buf = content;
    cb.aio_nbytes = BLOCK;
    cb.aio_offset = (off_t)number * BLOCK;
    cb.aio_sigevent.sigev_notify = SIGEV_NONE;
    return cb;
}

static void tell_done(const char *name, const char *file, long long offset, size_t size, ssize_t result, int error)
{
    printf("done %s %s %lld %zu %zd %d\n", name, file, offset, size, result, error);
}

static void tell_call(const char *name, int result)
{
    printf("call %s %d %d\n", name, result, result < 0 ? errno : 0);
}

/* They answer by a number, and never fail; of a file that is closed, too. */
static int error_of(const struct aiocb *cb)
{
    int error = aio_error(cb);

    printf("call aio_error %d 0\n", error);
    return error;
}

static ssize_t result_of(struct aiocb *cb)
{
    ssize_t result = aio_return(cb);

    printf("call aio_return %zd 0\n", result);
    return result;
}

/* Asks until it is over, then for the result. */
static void finish(const char *name, const char *file, struct aiocb *cb, int appends)
{
    int error, sync = !strcmp(name, "aio_fsync");

    while ((error = error_of(cb)) == EINPROGRESS)
        usleep(100);
    tell_done(name, file, appends || sync ? -1 : (long long)cb->aio_offset, sync ? 0 : cb->aio_nbytes, result_of(cb),
              error);
}

static void wait_for(struct aiocb *cb)
{
    const struct aiocb *list[] = {NULL, cb};

    tell_call("aio_suspend", aio_suspend(list, 2, NULL));
}

/* --- the usual -------------------------------------------------------------------------------- */

static void usual(void)
{
    int fd = open_file("usual", O_RDWR);
    struct aiocb cb;

    for (int i = 0; i < 10; i++) {
        cb = request(fd, i);
        if (aio_write(&cb))
            die("aio_write");
        if (i % 2)
            wait_for(&cb);
        finish("aio_write", "usual", &cb, 0);
    }
    for (int i = 0; i < 3; i++) {
        cb = request(fd, 9);
        cb.aio_offset += i * 600; /* whole, short, nothing */
        if (aio_read(&cb))
            die("aio_read");
        wait_for(&cb);
        finish("aio_read", "usual", &cb, 0);
    }
    for (int i = 0; i < 2; i++) {
        cb = request(fd, 0);
        if (aio_fsync(i ? O_DSYNC : O_SYNC, &cb))
            die("aio_fsync");
        finish("aio_fsync", "usual", &cb, 0);
    }
    cb = request(fd, 4); /* without asking whether it is over first */
    if (aio_read(&cb))
        die("aio_read");
    wait_for(&cb);
    tell_done("aio_read", "usual", cb.aio_offset, BLOCK, result_of(&cb), 0);
    close(fd);
}

static void appending(void)
{
    int fd = open_file("appending", O_RDWR | O_APPEND);

    for (int i = 0; i < 3; i++) {
        struct aiocb cb = request(fd, 7);

        if (aio_write(&cb))
            die("aio_write");
        finish("aio_write", "appending", &cb, 1);
        cb = request(fd, i);
        if (aio_read(&cb))
            die("aio_read");
        finish("aio_read", "appending", &cb, 0);
    }
    close(fd);
}

/* --- lists ------------------------------------------------------------------------------------ */

#define LIST 8

static void lists(void)
{
    int fd = open_file("lists", O_RDWR), closed = open_file("closed", O_RDWR);
    struct aiocb cbs[LIST], *list[LIST + 2];

    close(closed);
    for (int round = 0; round < 6; round++) {
        int mode = round % 2 ? LIO_WAIT : LIO_NOWAIT, bad = round == 5;

        for (int i = 0; i < LIST; i++) {
            cbs[i] = request(bad && i == 3 ? closed : fd, i);
            cbs[i].aio_lio_opcode = i == 5 ? LIO_NOP : i % 2 ? LIO_READ : LIO_WRITE;
            list[i] = &cbs[i];
        }
        list[LIST] = list[LIST + 1] = NULL;
        tell_call("lio_listio", lio_listio(mode, list, LIST + 2, NULL));
        for (int i = 0; i < LIST; i++)
            if (bad && i == 3)
                fprintf(stderr, "closed: %d %zd\n", error_of(&cbs[i]), result_of(&cbs[i]));
            else if (i != 5)
                finish(i % 2 ? "aio_read" : "aio_write", "lists", &cbs[i], 0);
    }
    tell_call("lio_listio", lio_listio(77, list, LIST, NULL));
    close(fd);
}

/* --- failures --------------------------------------------------------------------------------- */

static void failures(void)
{
    int writer = open_file("failures", O_WRONLY), reader = open_file("failures", O_RDONLY);
    struct aiocb cb = request(writer, 0);
    const struct aiocb *list[] = {&cb};
    struct timespec now = {0, 0};
    int result;

    if (aio_read(&cb))
        die("aio_read");
    finish("aio_read", "failures", &cb, 0);
    cb = request(reader, 2);
    if (aio_write(&cb))
        die("aio_write");
    finish("aio_write", "failures", &cb, 0);
    cb = request(writer, 3);
    cb.aio_reqprio = -1;
    result = aio_write(&cb);
    tell_done("aio_write", "failures", cb.aio_offset, BLOCK, result, errno);
    cb = request(writer, 0);
    result = aio_fsync(12345, &cb);
    tell_done("aio_fsync", "failures", -1, 0, result, errno);
    cb = request(9999, 0); /* of no file: nothing to record */
    if (aio_write(&cb) == 0)
        while (error_of(&cb) == EINPROGRESS)
            usleep(100);
    fprintf(stderr, "not open: %d\n", error_of(&cb));
    cb.__error_code = EINPROGRESS; /* as one that takes long */
    tell_call("aio_suspend", aio_suspend(list, 1, &now));
    tell_call("aio_suspend", aio_suspend(list, -1, &now));
    close(writer);
    close(reader);
}

/* --- being told ------------------------------------------------------------------------------- */

static struct aiocb signalled;
static volatile sig_atomic_t handler_error, handler_result, was_signalled;

static void ask_in_handler(int number, siginfo_t *info, void *context)
{
    struct aiocb *cb = info->si_value.sival_ptr;

    (void)number;
    (void)context;
    handler_error = aio_error(cb);
    handler_result = (sig_atomic_t)aio_return(cb);
    was_signalled = 1;
}

static void only_note(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
    was_signalled = 1;
}

static void submit_with_signal(int fd, int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};

    sigaction(SIGUSR1, &action, NULL);
    was_signalled = 0;
    signalled = request(fd, number);
    signalled.aio_sigevent.sigev_notify = SIGEV_SIGNAL;
    signalled.aio_sigevent.sigev_signo = SIGUSR1;
    signalled.aio_sigevent.sigev_value.sival_ptr = &signalled;
    if (aio_write(&signalled))
        die("aio_write");
    while (!was_signalled)
        usleep(100);
}

static void signals(void)
{
    int fd = open_file("signals", O_RDWR);

    for (int i = 0; i < 20; i++) {
        submit_with_signal(fd, i, ask_in_handler);
        printf("call aio_error %d 0\ncall aio_return %d 0\n", handler_error, handler_result);
        tell_done("aio_write", "signals", (long long)i * BLOCK, BLOCK, handler_result, handler_error);
    }
    close(fd);
}

/* The control block is used again though nobody asked how it ended; the last one is asked for. */
static void never_asked(void)
{
    int fd = open_file("never_asked", O_RDWR);

    for (int i = 0; i < 5; i++) {
        submit_with_signal(fd, i, only_note);
        if (i < 4)
            printf("begun aio_write never_asked %d %d\n", i * BLOCK, BLOCK);
    }
    finish("aio_write", "never_asked", &signalled, 0);
    submit_with_signal(fd, 6, only_note); /* and this one is left at the end of the process */
    printf("begun aio_write never_asked %d %d\n", 6 * BLOCK, BLOCK);
}

/* A thread of the C library is told, asks and frees the block, perhaps before aio_read has
 * returned. */
static sem_t told;

static void ask_and_free(union sigval value)
{
    struct aiocb *cb = value.sival_ptr;

    finish("aio_read", "freed", cb, 0);
    memset(cb, 0x55, sizeof *cb);
    free(cb);
    sem_post(&told);
}

static void notifications(void)
{
    int fd = open_file("freed", O_RDWR);

    sem_init(&told, 0, 0);
    for (int i = 0; i < 200; i++) {
        struct aiocb *cb = malloc(sizeof *cb);

        *cb = request(fd, i);
        cb->aio_nbytes = 0;
        cb->aio_sigevent.sigev_notify = SIGEV_THREAD;
        cb->aio_sigevent.sigev_notify_function = ask_and_free;
        cb->aio_sigevent.sigev_value.sival_ptr = cb;
        if (aio_read(cb))
            die("aio_read");
        if (i % 8 == 7)
            for (int k = 0; k < 8; k++)
                sem_wait(&told);
    }
    close(fd);
}

/* --- threads, processes, cancelling ----------------------------------------------------------- */

static void *worker(void *number)
{
    char file[32];
    int fd;

    snprintf(file, sizeof file, "thread%d", (int)(intptr_t)number);
    fd = open_file(file, O_RDWR);
    for (int round = 0; round < 50; round++) {
        struct aiocb cbs[4], *list[4];

        for (int i = 0; i < 4; i++) {
            cbs[i] = request(fd, round * 4 + i);
            cbs[i].aio_lio_opcode = LIO_WRITE;
            list[i] = &cbs[i];
        }
        tell_call("lio_listio", lio_listio(LIO_WAIT, list, 4, NULL));
        for (int i = 0; i < 4; i++)
            tell_done("aio_write", file, cbs[i].aio_offset, BLOCK, result_of(&cbs[i]), 0);
    }
    close(fd);
    return NULL;
}

static void threads(void)
{
    pthread_t all[4];

    for (intptr_t i = 0; i < 4; i++)
        if (pthread_create(&all[i], NULL, worker, (void *)i))
            die("pthread_create");
    for (int i = 0; i < 4; i++)
        pthread_join(all[i], NULL);
}

/* Asked for by two threads at once: one event. */
static struct aiocb both;

static void *ask_too(void *nothing)
{
    (void)nothing;
    while (error_of(&both) == EINPROGRESS)
        ;
    return NULL;
}

static void asked_twice(void)
{
    int fd = open_file("asked_twice", O_RDWR);

    for (int i = 0; i < 100; i++) {
        pthread_t thread;

        both = request(fd, i);
        if (aio_write(&both) || pthread_create(&thread, NULL, ask_too, NULL))
            die("aio_write");
        ask_too(NULL);
        pthread_join(thread, NULL);
        tell_done("aio_write", "asked_twice", both.aio_offset, BLOCK, result_of(&both), error_of(&both));
    }
    close(fd);
}

/* A child has no part in its parent's requests. (It cannot ask for them: the C library's lock may
 * be held for ever there.) */
static void forks(void)
{
    int fd = open_file("forks", O_RDWR), status;
    struct aiocb cb = request(fd, 0);
    pid_t child;

    if (aio_write(&cb))
        die("aio_write");
    fflush(stdout);
    child = fork();
    if (child == 0) {
        if (write(fd, content, 1) != 1)
            _exit(4);
        _exit(0);
    }
    waitpid(child, &status, 0);
    finish("aio_write", "forks", &cb, 0);
    close(fd);
}

static void closing(void)
{
    for (int i = 0; i < 50; i++) {
        int fd = open_file("closing", O_RDWR);
        struct aiocb cb = request(fd, i);

        if (aio_write(&cb))
            die("aio_write");
        close(fd); /* it may be done, or find nothing open */
        finish("aio_write", "closing", &cb, 0);
    }
}

static void cancelling(void)
{
    int fd = open_file("cancelling", O_RDWR);

    for (int round = 0; round < 20; round++) {
        struct aiocb cbs[LIST];

        for (int i = 0; i < LIST; i++) {
            cbs[i] = request(fd, i);
            if (i % 4 == 0 ? aio_fsync(O_SYNC, &cbs[i]) : aio_write(&cbs[i]))
                die("submission");
        }
        for (int i = LIST; i-- > 0;)
            if (i % 3)
                tell_call("aio_cancel", aio_cancel(fd, &cbs[i]));
        tell_call("aio_cancel", aio_cancel(fd, NULL));
        for (int i = 0; i < LIST; i++)
            finish(i % 4 == 0 ? "aio_fsync" : "aio_write", "cancelling", &cbs[i], 0);
    }
    close(fd);
}

/* More than the table holds. */
static void many(void)
{
    enum { MANY = 6000 };
    static struct aiocb cbs[MANY], *list[MANY];
    int fd = open_file("many", O_RDWR);

    for (int i = 0; i < MANY; i++) {
        cbs[i] = request(fd, i);
        cbs[i].aio_nbytes = 1;
        cbs[i].aio_lio_opcode = LIO_WRITE;
        list[i] = &cbs[i];
    }
    tell_call("lio_listio", lio_listio(LIO_NOWAIT, list, MANY, NULL));
    for (int i = 0; i < MANY; i++)
        finish("aio_write", "many", &cbs[i], 0);
    close(fd);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"usual", usual},
                 {"appending", appending},
                 {"lists", lists},
                 {"failures", failures},
                 {"signals", signals},
                 {"never_asked", never_asked},
                 {"notifications", notifications},
                 {"threads", threads},
                 {"asked_twice", asked_twice},
                 {"forks", forks},
                 {"closing", closing},
                 {"cancelling", cancelling},
                 {"many", many}};

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
