/* SPDX-License-Identifier: MIT */
/* Cases about calls that meet others halfway: a handler that runs before vfork has returned, a
 * vfork child on the library's number, a thread that seeks while another reads, a stream that is
 * gone, a thread that lets none of the others run, numbers on which the library is just opening a
 * file. */
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "raw.h"

static int make_file(const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT, 0644);

    guest_need(fd >= 0, name);
    return fd;
}

static volatile sig_atomic_t handled;

static void on_child(int number)
{
    char name[] = "handler0", bytes[8];
    int fd;

    (void)number;
    name[7] = (char)('0' + handled++);
    fd = make_file(name);
    guest_need(write(fd, "from the handler", 16) == 16 && lseek(fd, 5, SEEK_SET) == 5 && read(fd, bytes, 8) == 8,
               "calls");
    guest_need(!close(fd), "close");
}

/* The child is dead when its parent goes on, so its signal is handled before vfork returns
 * there. */
static int signal_of_a_vfork_child(void)
{
    guest_need(signal(SIGCHLD, on_child) != SIG_ERR, "signal");
    for (int i = 0; i < 3; i++) {
        pid_t pid = vfork();
        int status = -1;

        if (pid == 0)
            _exit(3);
        guest_need(pid > 0 && waitpid(pid, &status, 0) == pid, "vfork");
        guest_say("status", status);
    }
    guest_say("handled", handled);
    return 0;
}

static int open_numbers(void)
{
    int n = 0;

    for (int fd = 0; fd < 1024; fd++)
        n += raw_call(SYS_fcntl, fd, F_GETFD, 0) >= 0;
    return n;
}

/* Also over the number that the library has in this process: in the child's table of descriptors,
 * not in its parent's. */
static int vfork_over_all_numbers(void)
{
    int fd = make_file("file"), before = 0;

    guest_need(write(fd, "first", 5) == 5, "write");
    for (int i = 0; i < 4; i++) {
        pid_t pid = vfork();
        int status = -1;

        if (pid == 0) {
            for (int number = 256; number < 1024; number++)
                dup2(fd, number);
            _exit(0);
        }
        guest_need(pid > 0 && waitpid(pid, &status, 0) == pid && !status, "vfork");
        for (int k = 0; k < 5000; k++)
            guest_need(pwrite(fd, "x", 1, 100 + 5000 * i + k) == 1, "pwrite");
        if (i == 0)
            before = open_numbers();
    }
    guest_say("more descriptors than at first", open_numbers() - before);
    return 0;
}

static char stack_of_child[1 << 16] __attribute__((aligned(16)));

static int take_all_numbers(void *fd)
{
    for (int number = 256; number < 1024; number++)
        dup2(*(int *)fd, number);
    return 0;
}

/* Children of clone do so: in a table of their own, or in the one that they share. */
static int clone_over_all_numbers(void)
{
    static const struct {
        int flags, times;
    } kinds[] = {{CLONE_VM | CLONE_FILES, 4},
                 {CLONE_VM | CLONE_VFORK | CLONE_FILES, 1},
                 {CLONE_FILES, 2},
                 {CLONE_VM, 1},
                 {CLONE_VM | CLONE_VFORK, 1},
                 {0, 1}};
    int fd = make_file("file"), own = make_file("own"), at = 0;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int k = 0; k < kinds[i].times; k++) {
            pid_t pid = clone(take_all_numbers, stack_of_child + sizeof stack_of_child, kinds[i].flags | SIGCHLD, &own);
            int status = -1;

            guest_need(pid > 0 && waitpid(pid, &status, 0) == pid && !status, "clone");
            for (int n = 0; n < 6400; n++) { /* the largest ring is full enough twice */
                guest_need(pwrite(fd, "x", 1, at++) == 1, "pwrite");
                for (int number = 256; n == 3200 && number < 1024; number++)
                    close(number);
            }
        }
    return 0;
}

#define RECORDS 100000u

static int shared_fd;
static _Atomic int over;

static void *seek_all_the_time(void *unused)
{
    while (!atomic_load(&over))
        guest_need(lseek(shared_fd, 0, SEEK_CUR) >= 0, "lseek");
    return unused;
}

/* One thread asks how far the other has come. */
static int seeks_of_another_thread(void)
{
    static uint32_t records[RECORDS];
    pthread_t thread;
    uint32_t record;

    for (uint32_t i = 0; i < RECORDS; i++)
        records[i] = i;
    shared_fd = make_file("records");
    guest_need(pwrite(shared_fd, records, sizeof records, 0) == sizeof records, "pwrite");
    guest_need(!pthread_create(&thread, NULL, seek_all_the_time, NULL), "thread");
    for (uint32_t i = 0; i < RECORDS; i++)
        guest_need(read(shared_fd, &record, sizeof record) == sizeof record && record == i, "read");
    atomic_store(&over, 1);
    guest_need(!pthread_join(thread, NULL), "join");
    return 0;
}

/* The page in which the stream lay is gone with it, as with allocators that give memory back at
 * once. */
static int stream_is_gone(void)
{
    int fd = make_file("text"), n = 0;
    char *below = malloc(8192), *above;
    uintptr_t page;
    FILE *stream;

    guest_need(pwrite(fd, "some letters\n", 13, 0) == 13, "pwrite");
    stream = fdopen(fd, "r");
    above = malloc(8192);
    guest_need(stream && below && above, "memory");
    while (__getc_unlocked_body(stream) != EOF) /* as the header inlines it */
        n++;
    guest_say("letters", n);
    page = (uintptr_t)&stream->_fileno & ~(uintptr_t)4095;
    guest_need((uintptr_t)below < page && page + 4096 < (uintptr_t)above + 8192, "the stream between the two");
    guest_say("fclose", fclose(stream));
    guest_need(!mprotect((void *)page, 4096, PROT_NONE), "mprotect");
    return 0;
}

#define PARTS 20000

static FILE *shared_stream;

/* Each says by an offset of its own which part it has got. */
static void *read_parts(void *unused)
{
    uint32_t part[16];
    int fd = make_file("got");

    while (fread(part, sizeof part, 1, shared_stream) == 1)
        guest_need(pwrite(fd, "x", 1, part[0]) == 1, "pwrite");
    return unused;
}

static void *read_letters(void *unused)
{
    while (fgetc(shared_stream) != EOF)
        ;
    return unused;
}

static int threads_on_one_stream(void)
{
    static uint32_t parts[PARTS][16];
    void *(*const how[2])(void *) = {read_parts, read_letters};
    int fd = make_file("parts");
    pthread_t threads[2];

    for (uint32_t i = 0; i < PARTS; i++)
        parts[i][0] = i;
    guest_need(pwrite(fd, parts, sizeof parts, 0) == sizeof parts, "pwrite");
    for (int i = 0; i < 2; i++) {
        shared_stream = fopen("parts", "r");
        guest_need(shared_stream != NULL, "fopen");
        for (int k = 0; k < 2; k++)
            guest_need(!pthread_create(&threads[k], NULL, how[i], NULL), "thread");
        for (int k = 0; k < 2; k++)
            guest_need(!pthread_join(threads[k], NULL), "join");
        guest_say("position", ftell(shared_stream));
        guest_say("fclose", fclose(shared_stream));
    }
    return 0;
}

static _Atomic int nothing_more;

static void *write_all_the_time(void *unused)
{
    int fd = make_file("ordinary");

    do
        guest_need(pwrite(fd, "x", 1, 0) == 1, "pwrite");
    while (!atomic_load(&nothing_more));
    return unused;
}

static int64_t own_milliseconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* A few calls a turn, of a thread that is before all ordinary ones wherever it can run. */
static void *write_urgently(void *unused)
{
    const struct timespec pause = {0, 1000000};
    int fd = make_file("urgent"), slow = 0;

    for (int i = 0; i < 1000; i++) {
        int64_t before = own_milliseconds();

        for (int k = 0; k < 400; k++)
            guest_need(pwrite(fd, "x", 1, k) == 1, "pwrite");
        slow += own_milliseconds() - before > 300;
        nanosleep(&pause, NULL);
    }
    guest_say("turns that burned the processor", slow);
    return unused;
}

/* Both on one processor: what an ordinary thread holds when the urgent one wants it, it can give
 * back only when it is let to run. */
static int urgent_thread(void)
{
    const struct sched_param urgent_class = {.sched_priority = 10};
    pthread_t ordinary, urgent;
    pthread_attr_t attr;
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    guest_need(!sched_setaffinity(0, sizeof one, &one), "sched_setaffinity");
    pthread_attr_init(&attr);
    guest_need(!pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED) &&
                   !pthread_attr_setschedpolicy(&attr, SCHED_FIFO) && !pthread_attr_setschedparam(&attr, &urgent_class),
               "attributes");
    guest_need(!pthread_create(&ordinary, NULL, write_all_the_time, NULL), "thread");
    if (pthread_create(&urgent, &attr, write_urgently, NULL))
        guest_say("not allowed", 0);
    else
        guest_need(!pthread_join(urgent, NULL), "join");
    atomic_store(&nothing_more, 1);
    guest_need(!pthread_join(ordinary, NULL), "join");
    return 0;
}

static int busy_times, victim;
static atomic_int spinning;

/* Onto the lowest numbers that are free, on which the library opens its files. */
static void *take_free_numbers(void *unused)
{
    while (!atomic_load(&nothing_more)) {
        for (int fd = 10; fd < 14; fd++) {
            busy_times += dup2(victim, fd) != fd && errno == EBUSY;
            close(fd);
        }
        atomic_store(&spinning, 1);
    }
    return unused;
}

static int first_calls_beside_dup2(void)
{
    pthread_t taker;
    struct stat status;

    guest_need(!pthread_create(&taker, NULL, take_free_numbers, NULL), "thread");
    while (!atomic_load(&spinning))
        sched_yield();
    for (int i = 0; i < 3; i++)
        guest_need(!stat("file", &status), "stat");
    atomic_store(&nothing_more, 1);
    guest_need(!pthread_join(taker, NULL), "join");
    return busy_times > 0;
}

/* Each child's first calls make files of its own, while another thread of it puts a file of the
 * program's on numbers that are free: not a byte gets into that. */
static int numbers_in_the_making(void)
{
    int busy = 0;

    victim = make_file("file");
    guest_need(victim >= 0, "file");
    for (int fd = victim + 1; fd < 10; fd++)
        guest_need(dup2(victim, fd) == fd, "dup2");
    for (int i = 0; i < 100; i++) {
        int status = -1;
        pid_t pid = fork();

        if (pid == 0)
            _exit(first_calls_beside_dup2());
        guest_need(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status), "child");
        busy += WEXITSTATUS(status);
    }
    guest_say("children to which a free number was busy", busy);
    return 0;
}

const struct guest_case guest_races[] = {{"signal_of_a_vfork_child", signal_of_a_vfork_child},
                                         {"vfork_over_all_numbers", vfork_over_all_numbers},
                                         {"clone_over_all_numbers", clone_over_all_numbers},
                                         {"seeks_of_another_thread", seeks_of_another_thread},
                                         {"threads_on_one_stream", threads_on_one_stream},
                                         {"stream_is_gone", stream_is_gone},
                                         {"urgent_thread", urgent_thread},
                                         {"numbers_in_the_making", numbers_in_the_making},
                                         {NULL, NULL}};
