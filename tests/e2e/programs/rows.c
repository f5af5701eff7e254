/* SPDX-License-Identifier: MIT */
/* Makes calls of one kind or another and counts them itself.
 *
 *   rows WHAT DIRECTORY [NUMBER]...
 *
 * It prints "PID NAME COUNT ERRORS BYTES" of the calls that returned, and what else tests need.
 *
 * Files lie in DIRECTORY. A process prints what it counted before it ends, so that it may end in any way. */
#include <dftrace/dftrace.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum call {
    OPEN,
    CLOSE,
    READ,
    WRITE,
    PREAD,
    PWRITE,
    LSEEK,
    FTRUNCATE,
    FSYNC,
    UNLINK,
    FLOCK,
    FGETC,
    FGETS,
    FPUTC,
    CHDIR,
    MKDIR,
    REGION,
    CALLS
};
static const char *const names[CALLS] = {"open",  "close",     "read",  "write",  "pread", "pwrite",
                                         "lseek", "ftruncate", "fsync", "unlink", "flock", "fgetc",
                                         "fgets", "fputc",     "chdir", "mkdir",  "step"};
static struct {
    atomic_long count, errors, bytes;
} sums[CALLS];
static const char *self;

static void need(int fine, const char *what)
{
    if (!fine) {
        perror(what);
        _exit(3);
    }
}

static long did(enum call call, long result)
{
    sums[call].count++;
    sums[call].errors += result < 0;
    if ((call == READ || call == WRITE || call == PREAD || call == PWRITE) && result > 0)
        sums[call].bytes += result;
    return result;
}

static void print_sums(void)
{
    char line[128];

    for (int call = 0; call < CALLS; call++)
        if (sums[call].count) {
            int n = snprintf(line, sizeof line, "%d %s %ld %ld %ld\n", (int)getpid(), names[call],
                             (long)sums[call].count, (long)sums[call].errors, (long)sums[call].bytes);
            need(write(1, line, (size_t)n) == n, "write");
        }
}

static void say(const char *what, long long number)
{
    char line[128];
    int n = snprintf(line, sizeof line, "%s %lld\n", what, number);

    need(write(1, line, (size_t)n) == n, "write");
}

static void forget(void)
{
    memset(sums, 0, sizeof sums);
}

static int open_file(const char *name)
{
    int fd = (int)did(OPEN, open(name, O_RDWR | O_CREAT, 0600));

    need(fd >= 0, name);
    return fd;
}

static int open_data(const char *name)
{
    int fd = open_file(name);

    need(!did(FTRUNCATE, ftruncate(fd, 1 << 20)), name);
    return fd;
}

static long long now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void preads(int fd, long count)
{
    char bytes[64];

    for (long i = 0; i < count; i++)
        did(PREAD, pread(fd, bytes, sizeof bytes, i * 64 % (1 << 20)));
}

static void loop(long count)
{
    preads(open_data("data"), count);
}

/* Eight calls on a file, then one on the next one: as many rounds as there are intervals of a millisecond. */
static void intervals(long count)
{
    static long of_file[100];
    long long start = now_ns();
    char name[16], bytes[100] = {0};

    for (long i = 0; i < count; i++) {
        long long rest_ns = start + i * 1000000 - now_ns();
        int fd;

        if (rest_ns > 0)
            nanosleep(&(struct timespec){.tv_nsec = rest_ns}, NULL);
        snprintf(name, sizeof name, "f%02ld", i * 7 % 100);
        fd = open_file(name);
        did(PWRITE, pwrite(fd, bytes, sizeof bytes, i));
        did(PREAD, pread(fd, bytes, 50, i % 60));
        did(LSEEK, lseek(fd, 0, SEEK_SET));
        did(READ, read(fd, bytes, 10));
        did(WRITE, write(fd, bytes, 10));
        did(FTRUNCATE, ftruncate(fd, 5000));
        did(CLOSE, close(fd));
        of_file[i * 7 % 100] += 8;
    }
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "f%02d", i);
        say(name, of_file[i]);
    }
}

/* Four calls on each file; 1,000 files in a directory. */
static void touch(long count)
{
    char name[64];

    for (long i = 0; i < count; i++) {
        int fd;

        snprintf(name, sizeof name, "d%ld", i / 1000);
        need(i % 1000 || !did(MKDIR, mkdir(name, 0700)), name);
        snprintf(name, sizeof name, "d%ld/%ld", i / 1000, i % 1000);
        fd = open_file(name);
        did(WRITE, write(fd, name, 8));
        did(CLOSE, close(fd));
        did(UNLINK, unlink(name));
    }
}

/* --- threads and processes -------------------------------------------------------------------- */

static pthread_barrier_t barrier;

static void *of_thread(void *number)
{
    char name[16];
    long count = 100 + (long)number;
    int fd;

    snprintf(name, sizeof name, "t%ld", (long)number);
    fd = open_data(name);
    preads(fd, count);
    pthread_barrier_wait(&barrier); /* all have called */
    pthread_barrier_wait(&barrier); /* the test has looked */
    preads(fd, count);
    did(CLOSE, close(fd));
    return NULL;
}

static void threads(long count)
{
    pthread_t *thread = calloc((size_t)count, sizeof *thread);
    pthread_attr_t small;
    char c;

    need(thread && !pthread_barrier_init(&barrier, NULL, (unsigned)count + 1) && !pthread_attr_init(&small) &&
             !pthread_attr_setstacksize(&small, 1 << 17),
         "threads");
    for (long i = 0; i < count; i++)
        need(!pthread_create(&thread[i], &small, of_thread, (void *)i), "pthread_create");
    pthread_barrier_wait(&barrier);
    say("ready", count);
    need(read(0, &c, 1) == 1, "standard input");
    pthread_barrier_wait(&barrier);
    for (long i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
    free(thread);
}

static void *short_thread(void *number)
{
    char name[16];
    int fd;

    snprintf(name, sizeof name, "s%ld", (long)number % 10);
    fd = open_data(name);
    preads(fd, 50 + (long)number);
    did(CLOSE, close(fd));
    return NULL;
}

static void family(long count)
{
    char number[32];

    preads(open_data("parent"), 1000);
    for (long i = 0; i < count; i++) {
        pid_t child = fork();

        need(child >= 0, "fork");
        if (!child) {
            forget();
            preads(open_data("data"), 500 + i);
            short_thread((void *)i);
            print_sums();
            if (i % 2)
                _exit(0);
            exit(0);
        }
        snprintf(number, sizeof number, "%ld", 2000 + i);
        child = vfork();
        if (!child) {
            execl(self, self, "loop", ".", number, NULL);
            _exit(3);
        }
        preads(open_data("parent"), 100);
        for (long j = 0; j < 10; j++) {
            pthread_t thread;

            need(!pthread_create(&thread, NULL, short_thread, (void *)(10 * i + j)), "pthread_create");
            pthread_join(thread, NULL);
        }
    }
    while (wait(NULL) > 0)
        ;
}

/* --- handlers --------------------------------------------------------------------------------- */

static int handler_fd, jumps_every;
static volatile long handled, jumped;
static sigjmp_buf back;

static void handle(int signal)
{
    char bytes[32];
    int before = errno;

    (void)signal;
    did(PREAD, pread(handler_fd, bytes, sizeof bytes, handled * 32 % 65536));
    errno = before;
    if (++handled % 10 == 0 && jumps_every) {
        jumped++;
        siglongjmp(back, 1);
    }
}

/* Calls while a handler runs every 100 us, so many times, and which leaves by siglongjmp every tenth time. */
static void alarms(long count, int jumps)
{
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    int fd = open_data("main");
    char bytes[64];
    volatile long i = 0;

    jumps_every = jumps;
    handler_fd = open_data("handler");
    sigsetjmp(back, 1);
    need(!sigaction(SIGALRM, &action, NULL) && !setitimer(ITIMER_REAL, &often, NULL), "setitimer");
    while (handled < count) {
        did(PREAD, pread(fd, bytes, sizeof bytes, i * 64 % 65536));
        i++;
    }
    jumps_every = 0;
    need(!setitimer(ITIMER_REAL, &never, NULL), "setitimer");
    for (long j = 0; j < 50000; j++)
        did(PWRITE, pwrite(fd, bytes, sizeof bytes, j * 64 % 65536));
    say("jumped", jumped);
    say("handled", handled);
}

/* --- long calls, pauses, ends ----------------------------------------------------------------- */

/* Waits for a lock that a child holds for 60 ms. Says how long the calls took at most. */
static void locks(long count)
{
    long long most_ns = 0;
    int to_child[2], from_child[2], fd = open_file("lock");
    char c = 0;

    need(!pipe(to_child) && !pipe(from_child), "pipe");
    if (!fork()) {
        int own = open("lock", O_RDWR);

        while (close(to_child[1]), read(to_child[0], &c, 1) == 1) {
            need(!flock(own, LOCK_EX) && write(from_child[1], &c, 1) == 1, "the child's lock");
            usleep(60000);
            flock(own, LOCK_UN);
        }
        _exit(0);
    }
    for (long i = 0; i < count; i++) {
        long long start;

        need(write(to_child[1], &c, 1) == 1 && read(from_child[0], &c, 1) == 1, "the child");
        start = now_ns();
        did(FLOCK, flock(fd, LOCK_EX));
        most_ns += now_ns() - start;
        start = now_ns();
        did(FLOCK, flock(fd, LOCK_UN));
        most_ns += now_ns() - start;
    }
    close(to_child[1]);
    wait(NULL);
    say("most_ns", most_ns);
}

static void pauses(long count)
{
    int fd = open_data("data");
    char bytes[64];

    for (long i = 0; i < count; i++) {
        preads(fd, 100);
        if (i % 2)
            DFTRACE_PAUSE_THREAD();
        else
            DFTRACE_PAUSE_PROCESS();
        for (int j = 0; j < 50; j++)
            need(pread(fd, bytes, 10, 0) == 10, "pread");
        if (i % 2)
            DFTRACE_RESUME_THREAD();
        else
            DFTRACE_RESUME_PROCESS();
        did(PWRITE, pwrite(fd, bytes, 64, i));
    }
}

/* An exec that fails, and calls behind it; then the end. */
static void end(const char *how)
{
    int fd = open_data("data");

    preads(fd, 3000);
    need(execl("./no such program", "none", NULL) == -1 && errno == ENOENT, "exec");
    preads(fd, 2000);
    did(FSYNC, fsync(fd));
    print_sums();
    if (!strcmp(how, "_exit"))
        _exit(0);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "kill"))
        raise(SIGKILL);
    if (!strcmp(how, "fault"))
        raise(SIGSEGV);
    exit(0);
}

/* Bursts of small calls on a stream, in regions with arguments. */
static void streams(long count)
{
    FILE *stream = fopen("stream", "w+");
    char line[64];

    need(stream != NULL, "stream");
    for (long i = 0; i < count; i++) {
        DFTRACE_BEGIN("step");
        DFTRACE_ARG_INT("number", i);
        DFTRACE_ARG_STRING("what", "a longer text that does not fit in a slot of its record");
        did(REGION, 0);
        for (int j = 0; j < 100; j++) {
            did(FPUTC, fputc(j % 10 == 9 ? '\n' : 'a', stream));
            sums[FPUTC].bytes++;
        }
        DFTRACE_END("step");
    }
    rewind(stream);
    while (did(FGETC, fgetc(stream)) != EOF)
        sums[FGETC].bytes++;
    sums[FGETC].errors = 0; /* the end of a file is none */
    rewind(stream);
    while (fgets(line, sizeof line, stream)) {
        did(FGETS, 0);
        sums[FGETS].bytes += (long)strlen(line);
    }
    did(FGETS, 0); /* the end */
    fclose(stream);
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    long number = argc > 3 ? atol(argv[3]) : 0;

    self = realpath(argv[0], NULL);
    need(argc > 2 && !did(CHDIR, chdir(argv[2])), "WHAT DIRECTORY [NUMBER]");
    if (!strcmp(what, "loop"))
        loop(number);
    else if (!strcmp(what, "intervals"))
        intervals(number);
    else if (!strcmp(what, "touch"))
        touch(number);
    else if (!strcmp(what, "threads"))
        threads(number);
    else if (!strcmp(what, "family"))
        family(number);
    else if (!strcmp(what, "alarms"))
        alarms(number, 0);
    else if (!strcmp(what, "jumps"))
        alarms(number, 1);
    else if (!strcmp(what, "locks"))
        locks(number);
    else if (!strcmp(what, "pauses"))
        pauses(number);
    else if (!strcmp(what, "streams"))
        streams(number);
    else if (!strcmp(what, "end"))
        end(argv[3]);
    else
        return 2;
    print_sums();
    return 0;
}
