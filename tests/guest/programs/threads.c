/* SPDX-License-Identifier: MIT */
/* Threads by the thousand, on the smallest stacks, with late destructors, with descriptors and
 * directories of their own, and stacks that are switched under way. */
#include "cases.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { MANY = 4000, AT_ONCE = 50 };

static atomic_long done;

static void add(const char *file, const char *text, size_t size)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_APPEND, 0644);

    if (fd < 0 || write(fd, text, size) != (ssize_t)size)
        abort();
    close(fd);
}

static void *one_write(void *unused)
{
    add("many", "0123456789", 10);
    done++;
    return unused;
}

static pthread_t start_tiny(void *(*run)(void *), void *argument)
{
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN));
    if (pthread_create(&thread, &attributes, run, argument))
        abort();
    pthread_attr_destroy(&attributes);
    return thread;
}

static void thousands(void)
{
    for (int i = 0; i < MANY; i += AT_ONCE) {
        pthread_t threads[AT_ONCE];

        for (int j = 0; j < AT_ONCE; j++)
            threads[j] = start_tiny(one_write, NULL);
        for (int j = 0; j < AT_ONCE; j++)
            pthread_join(threads[j], NULL);
    }
    say("done", done);
}

static void detached(void)
{
    for (int i = 0; i < MANY / 4; i++) {
        pthread_detach(start_tiny(one_write, NULL));
        while (i - done > AT_ONCE)
            sched_yield();
    }
    while (done < MANY / 4)
        usleep(1000);
    say("done", done);
}

/* A destructor that sets the value again is called again, PTHREAD_DESTRUCTOR_ITERATIONS times:
 * behind the tracer's own. */
static pthread_key_t keys[40];

static void late(void *value)
{
    long round = (long)value / 100, which = (long)value % 100;

    add("late", "late\n", 5);
    if (round < PTHREAD_DESTRUCTOR_ITERATIONS + 1)
        pthread_setspecific(keys[which], (void *)(value + 100));
}

static void *with_keys(void *unused)
{
    for (long i = 0; i < 40; i++)
        pthread_setspecific(keys[i], (void *)(100 + i));
    return unused;
}

static void late_destructors(void)
{
    struct stat st;

    for (int i = 0; i < 40; i++)
        pthread_key_create(&keys[i], late);
    for (int i = 0; i < 50; i++)
        pthread_join(start_tiny(with_keys, NULL), NULL);
    stat("late", &st);
    say("written", st.st_size);
}

/* A thread with a table of descriptors and a working directory of its own. */
static void *apart(void *argument)
{
    char byte = 0;
    int fd;

    if (unshare(CLONE_FILES | CLONE_FS)) {
        say("unshare", -1);
        return NULL;
    }
    for (fd = 3; fd < 300; fd++)
        close(fd);
    say("chdir", chdir("inside"));
    for (int i = 0; i < 20; i++) {
        fd = open("file", O_RDWR | O_CREAT | O_APPEND, 0644);
        say("fd", fd);
        say("write", write(fd, "apart\n", 6));
        say("close", close(fd));
    }
    say("the other's", read(*(int *)argument, &byte, 1));
    return NULL;
}

static void descriptors_of_their_own(void)
{
    pthread_t thread;
    int fd;

    mkdir("inside", 0755);
    fd = open("outside", O_RDWR | O_CREAT, 0644);
    pthread_create(&thread, NULL, apart, &fd);
    pthread_join(thread, NULL);
    for (int i = 0; i < 20; i++)
        say("write", write(fd, "outside\n", 8));
    say("offset", lseek(fd, 0, SEEK_CUR));
    say("not here", access("file", F_OK));
}

/* Coroutines: calls begin on one stack and end on it, with others between them. */
static ucontext_t scheduler, coroutines[8];

static void coroutine(int number)
{
    char name[16];

    snprintf(name, sizeof name, "c%d", number);
    for (int i = 0; i < 100; i++) {
        add(name, "turn\n", 5);
        swapcontext(&coroutines[number], &scheduler);
    }
}

static void switched_stacks(void)
{
    for (int i = 0; i < 8; i++) {
        getcontext(&coroutines[i]);
        coroutines[i].uc_stack.ss_sp = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        coroutines[i].uc_stack.ss_size = 16384;
        coroutines[i].uc_link = &scheduler;
        makecontext(&coroutines[i], (void (*)(void))coroutine, 1, i);
    }
    for (int turn = 0; turn < 100; turn++)
        for (int i = 0; i < 8; i++)
            swapcontext(&scheduler, &coroutines[i]);
    say("turns", 100);
}

/* Handlers of fork that do I/O, in a process whose threads do too; children that fork again. */
static void before_fork(void)
{
    add("atfork", "before\n", 7);
}

static void after_fork_in_parent(void)
{
    add("atfork", "parent\n", 7);
}

static void after_fork_in_child(void)
{
    add("atfork", "child\n", 6);
}

static atomic_int enough;

static void *write_until_enough(void *argument)
{
    int fd = open("busy", O_WRONLY | O_CREAT, 0644);

    while (!enough)
        if (pwrite(fd, "x", 1, 0) != 1)
            abort();
    close(fd);
    return argument;
}

static void fork_handlers(void)
{
    pthread_t threads[3];
    struct stat st;
    int status;

    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    for (int i = 0; i < 3; i++)
        threads[i] = start_tiny(write_until_enough, NULL);
    for (int i = 0; i < 100; i++) {
        pid_t child = fork();

        if (!child) {
            pid_t grandchild = i % 2 ? fork() : _Fork();

            add("children", "c", 1);
            if (grandchild && (waitpid(grandchild, &status, 0) != grandchild || status))
                _exit(1);
            _exit(0);
        }
        if (waitpid(child, &status, 0) != child || status)
            say("status", status);
    }
    enough = 1;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    stat("children", &st);
    say("children", st.st_size);
    stat("atfork", &st);
    say("handlers", st.st_size);
    unlink("atfork"); /* the order of parent and child is no matter */
}

/* Forks in a handler of a signal that comes at any time. */
static volatile sig_atomic_t forked, failed;

static void fork_here(int signal)
{
    int status, before = errno;
    pid_t child = _Fork();

    (void)signal;
    if (!child) {
        add("handler", "h", 1);
        _exit(0);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    failed += status != 0;
    forked++;
    errno = before;
}

static void fork_in_handler(void)
{
    struct sigaction action = {.sa_handler = fork_here, .sa_flags = SA_RESTART};
    pthread_t self = pthread_self(), thread;
    struct stat st;

    sigaction(SIGUSR1, &action, NULL);
    thread = start_tiny(write_until_enough, NULL);
    for (int i = 0; i < 100; i++) {
        add("mine", "m", 1);
        pthread_kill(i % 2 ? self : thread, SIGUSR1);
        while (forked <= i)
            add("mine", "m", 1);
    }
    enough = 1;
    pthread_join(thread, NULL);
    stat("handler", &st);
    say("children", st.st_size);
    say("forked", forked);
    say("failed", failed);
    unlink("mine");
}

int main(int argc, char **argv)
{
    static const struct guest_case cases[] = {{"thousands", thousands},
                                              {"detached", detached},
                                              {"late_destructors", late_destructors},
                                              {"descriptors_of_their_own", descriptors_of_their_own},
                                              {"switched_stacks", switched_stacks},
                                              {"fork_handlers", fork_handlers},
                                              {"fork_in_handler", fork_in_handler},
                                              {NULL, NULL}};

    return run_case(cases, argc, argv);
}
