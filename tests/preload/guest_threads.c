/* SPDX-License-Identifier: MIT */
/* Cases about threads and signal stacks: tiny stacks, thousands of threads, handlers that make
 * calls. */
#include "guest.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int shared_fd;

static int make_file(const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT, 0644);

    guest_need(fd >= 0, name);
    return fd;
}

static void *use_stack(void *argument)
{
    intptr_t number = (intptr_t)argument;
    struct stat st;
    int fd;

    for (int i = 0; i < 5000; i++)
        guest_need(pwrite(shared_fd, "x", 1, number * 5000 + i) == 1, "pwrite");
    fd = open("opened-on-a-tiny-stack", O_RDWR | O_CREAT, 0644);
    guest_need(fd >= 0 && !stat("opened-on-a-tiny-stack", &st) && !close(fd), "calls");
    return NULL;
}

/* A stack of the least size, with a page below that nobody may touch. */
static int tiny_stacks(void)
{
    size_t least = (size_t)PTHREAD_STACK_MIN;
    pthread_t threads[8];

    shared_fd = make_file("tiny");
    for (intptr_t i = 0; i < 8; i++) {
        char *stack = mmap(NULL, least + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
        pthread_attr_t attr;

        guest_need(stack != MAP_FAILED && !mprotect(stack, 4096, PROT_NONE), "stack");
        pthread_attr_init(&attr);
        guest_need(!pthread_attr_setstack(&attr, stack + 4096, least), "attribute");
        guest_need(!pthread_create(&threads[i], &attr, use_stack, (void *)i), "thread");
    }
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    guest_say("size", lseek(shared_fd, 0, SEEK_END));
    return 0;
}

static void *write_once(void *argument)
{
    intptr_t number = (intptr_t)argument;

    guest_need(pwrite(shared_fd, "0123456789", 10, number * 10) == 10, "pwrite");
    return NULL;
}

static int many_threads(void)
{
    shared_fd = make_file("many");
    for (intptr_t i = 0; i < 2000; i += 20) {
        pthread_t threads[20];

        for (intptr_t j = 0; j < 20; j++)
            guest_need(!pthread_create(&threads[j], NULL, write_once, (void *)(i + j)), "thread");
        for (int j = 0; j < 20; j++)
            pthread_join(threads[j], NULL);
    }
    guest_say("size", lseek(shared_fd, 0, SEEK_END));
    return 0;
}

static void detached_end(void *argument)
{
    guest_need(pwrite(shared_fd, "d", 1, (intptr_t)argument) == 1, "pwrite");
}

static pthread_key_t key;

static void *with_destructor(void *argument)
{
    pthread_setspecific(key, argument);
    return NULL;
}

/* Calls of a thread's last moments: destructors of its data run after the library's own, or
 * before. */
static int thread_destructors(void)
{
    shared_fd = make_file("destructors");
    pthread_key_create(&key, detached_end);
    for (intptr_t i = 1; i <= 100; i++) {
        pthread_t thread;

        guest_need(!pthread_create(&thread, NULL, with_destructor, (void *)i), "thread");
        pthread_join(thread, NULL);
    }
    guest_say("size", lseek(shared_fd, 0, SEEK_END));
    return 0;
}

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
    char byte;

    (void)number;
    guest_need(pread(shared_fd, &byte, 1, handled++) >= 0, "pread");
}

/* Handlers on a stack of the least size. */
static int signal_stacks(void)
{
    stack_t stack = {.ss_size = (size_t)MINSIGSTKSZ + 2048};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    char *pages = mmap(NULL, stack.ss_size + 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    stack.ss_size = (stack.ss_size + 4095) & ~(size_t)4095;
    guest_need(pages != MAP_FAILED && !mprotect(pages, 4096, PROT_NONE), "pages");
    stack.ss_sp = pages + 4096;
    guest_need(!sigaltstack(&stack, NULL) && !sigaction(SIGUSR1, &action, NULL), "sigaltstack");
    shared_fd = make_file("handled");
    for (int i = 0; i < 5000; i++)
        raise(SIGUSR1);
    guest_say("handled", handled);
    return 0;
}

static sigjmp_buf out;

static void on_fault(int number)
{
    (void)number;
    guest_need(write(shared_fd, "f", 1) == 1, "write");
    siglongjmp(out, 1);
}

/* A fault inside the C library's own reading of the program's memory, and a jump out of it. */
static int faults(void)
{
    char *volatile bad = (char *)8;
    FILE *file = fopen("stream", "w+");
    int caught = 0;

    guest_need(file != NULL, "fopen");
    setvbuf(file, NULL, _IONBF, 0);
    shared_fd = make_file("faults");
    signal(SIGSEGV, on_fault);
    for (volatile int i = 0; i < 50; i++) {
        if (sigsetjmp(out, 1) == 0)
            fputs(bad, file);
        else
            caught++;
    }
    guest_say("caught", caught);
    guest_say("written", lseek(shared_fd, 0, SEEK_CUR));
    return 0;
}

static void *cancelled(void *argument)
{
    int *pipes = argument;
    char byte;

    guest_say("read", read(pipes[0], &byte, 1));
    return NULL;
}

/* Threads that are cancelled in the middle of a call; the next calls go on as if nothing had
 * been. */
static int cancellation(void)
{
    int pipes[2];
    void *result;

    guest_need(pipe(pipes) == 0, "pipe");
    shared_fd = make_file("cancelled");
    for (int i = 0; i < 50; i++) {
        pthread_t thread;

        guest_need(!pthread_create(&thread, NULL, cancelled, pipes), "thread");
        pthread_cancel(thread);
        pthread_join(thread, &result);
        guest_need(result == PTHREAD_CANCELED, "cancelled");
        guest_need(pwrite(shared_fd, "c", 1, i) == 1, "pwrite");
    }
    return 0;
}

/* Characters in runs, over execs of the main thread that fail, each in a new live file; and enough
 * of something else for the ring to be drained in the middle of a run. */
enum { RUN_ROUNDS = 6 };
static pthread_barrier_t run_barrier;

static void *reads_characters(void *argument)
{
    FILE *stream = fopen("characters", "r");

    guest_need(stream != NULL, "characters");
    (void)argument;
    for (int round = 0; round < RUN_ROUNDS; round++) {
        for (int i = 0; i < 100; i++) {
            guest_need(fgetc(stream) == 'x', "fgetc");
            for (int k = 0; i == 50 && k < 300 * (round % 2); k++)
                guest_need(pwrite(shared_fd, "w", 1, 0) == 1, "pwrite");
        }
        pthread_barrier_wait(&run_barrier);
        pthread_barrier_wait(&run_barrier);
    }
    fclose(stream);
    return NULL;
}

static int runs_over_execs(void)
{
    int script = open("no-program", O_WRONLY | O_CREAT, 0755);
    pthread_t thread;

    shared_fd = make_file("characters");
    for (int i = 0; i < 100 * RUN_ROUNDS; i++)
        guest_need(pwrite(shared_fd, "x", 1, i) == 1, "pwrite");
    shared_fd = make_file("file");
    guest_need(write(script, "\177ELF, not", 9) == 9 && close(script) == 0, "no-program");
    pthread_barrier_init(&run_barrier, NULL, 2);
    guest_need(!pthread_create(&thread, NULL, reads_characters, NULL), "thread");
    for (int round = 0; round < RUN_ROUNDS; round++) {
        pthread_barrier_wait(&run_barrier);
        guest_say("execl", execl("./no-program", "no-program", (char *)NULL));
        pthread_barrier_wait(&run_barrier);
    }
    pthread_join(thread, NULL);
    return 0;
}

static pthread_barrier_t crowd_barrier;

static void *read_with_all(void *reads)
{
    char byte;

    pthread_barrier_wait(&crowd_barrier);
    for (intptr_t i = 0; i < (intptr_t)reads; i++)
        guest_need(pread(shared_fd, &byte, 1, i) == 1, "pread");
    pthread_barrier_wait(&crowd_barrier);
    return NULL;
}

/* Threads that make so many calls, all at once, and end at once. */
static void read_in_a_crowd(unsigned count, intptr_t reads)
{
    pthread_t *threads = calloc(count, sizeof *threads);
    pthread_attr_t attr;

    shared_fd = make_file("read by all");
    guest_need(threads && !ftruncate(shared_fd, reads), "file");
    pthread_barrier_init(&crowd_barrier, NULL, count + 1);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 65536);
    for (unsigned i = 0; i < count; i++)
        guest_need(!pthread_create(&threads[i], &attr, read_with_all, (void *)reads), "thread");
    pthread_barrier_wait(&crowd_barrier);
    pthread_barrier_wait(&crowd_barrier);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    free(threads);
}

/* Says in a file how often its threads waited: that is another number each time. */
static int crowd(void)
{
    struct rusage usage;
    FILE *file;

    read_in_a_crowd(500, 400);
    guest_need(!getrusage(RUSAGE_SELF, &usage), "usage");
    file = fopen("switches", "w");
    guest_need(file && fprintf(file, "%ld\n", usage.ru_nvcsw) > 0 && !fclose(file), "file");
    return 0;
}

static _Atomic unsigned arrived;

static void *read_and_wait(void *argument)
{
    char byte;

    for (int i = 0; i < 10; i++)
        guest_need(pread(shared_fd, &byte, 1, 0) == 1, "pread");
    arrived++;
    pause(); /* until the process is killed */
    return argument;
}

static int crowd_killed(void)
{
    pthread_t thread;

    shared_fd = make_file("read by all");
    guest_need(write(shared_fd, "x", 1) == 1, "write");
    for (int i = 0; i < 100; i++)
        guest_need(!pthread_create(&thread, NULL, read_and_wait, NULL), "thread");
    while (arrived < 100)
        usleep(1000);
    kill(getpid(), SIGKILL);
    return 1;
}

const struct guest_case guest_threads[] = {{"tiny_stacks", tiny_stacks},
                                           {"crowd", crowd},
                                           {"crowd_killed", crowd_killed},
                                           {"many_threads", many_threads},
                                           {"thread_destructors", thread_destructors},
                                           {"signal_stacks", signal_stacks},
                                           {"faults", faults},
                                           {"cancellation", cancellation},
                                           {"runs_over_execs", runs_over_execs},
                                           {NULL, NULL}};
