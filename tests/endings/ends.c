/* SPDX-License-Identifier: MIT */
/* Makes calls, alone or in threads, and ends in the way that its arguments name; the program's own
 * counts stand in a shared file.
 *
 * usage: ends COUNTERS THREADS CALLS HOW [HOW...] in a directory of its own, which has a file
 * `input`.
 *
 * CALLS are divided among the threads. At half of them the main thread ends the process as HOW
 * says, while the others go on; with 0 threads it makes all calls itself, and then ends. HOW can
 * be: the names in the table `endings` below; "forks" and "orphans": a child for each further HOW,
 * that works and ends so, and then this process ends, behind its children or before them; "wait":
 * says "ready" and goes on making calls until it is killed; "paced": the same, with pauses. */
#include "ends_work.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../preload/raw.h"

#define THREADS_MOST 64

extern void (*ends_at_unload)(void);

static struct ends_worker main_worker, workers[THREADS_MOST];
static pthread_t threads[THREADS_MOST];
static int nthreads;
static uint64_t ncalls;
static char **arguments;
static int paced;
static int late; /* handlers and destructors do I/O */

static void late_call(void)
{
    if (late)
        ends_late_call(&main_worker);
}

static void late_call_on_exit(int status, void *unused)
{
    (void)status;
    (void)unused;
    late_call();
}

__attribute__((destructor)) static void destructor(void)
{
    late_call();
}

/* --- ways to end ------------------------------------------------------------------------------ */

static void by_return(void) {}

static void by_exit(void)
{
    exit(0);
}

static void by__exit(void)
{
    _exit(0);
}

static void by__Exit(void)
{
    _Exit(0);
}

static void by_quick_exit(void)
{
    at_quick_exit(late_call);
    late = 1;
    quick_exit(0);
}

static void by_late(void)
{
    void *library = dlopen("./libends_other.so", RTLD_NOW | RTLD_GLOBAL);
    void (**at_unload)(void) = library ? (void (**)(void))dlsym(library, "ends_at_unload") : NULL;

    ends_need(at_unload != NULL, "libends_other.so");
    *at_unload = late_call;
    ends_at_unload = late_call;
    atexit(late_call);
    on_exit(late_call_on_exit, NULL);
    late = 1;
    exit(0);
}

static void by_syscall(void)
{
    syscall(SYS_exit_group, 0);
}

static void by_raw(void)
{
    raw_call(SYS_exit_group, 0, 0, 0);
}

static void by_segv(void)
{
    *(volatile char *)8 = 1;
}

static void by_term(void)
{
    raise(SIGTERM);
}

static void by_kill(void)
{
    raw_call(SYS_kill, getpid(), SIGKILL, 0);
    pause();
}

static void by_exec(void)
{
    execl("/bin/true", "true", (char *)NULL);
}

static void by_fexecve(void)
{
    char *argv[] = {(char *)"true", NULL};
    int fd = open("/bin/true", O_RDONLY | O_CLOEXEC);

    fexecve(fd, argv, environ);
}

/* A file that can be executed as far as its mode tells, and cannot. */
static void by_failing_exec(void)
{
    char *argv[] = {(char *)"none", NULL};

    for (int i = 0; i < 20; i++) {
        ends_need(execv("./not_a_program", argv) == -1 && errno == ENOEXEC, "execv");
        ends_need(execv("./nothing", argv) == -1 && errno == ENOENT, "execv");
        ends_late_call(&main_worker);
    }
}

static void by_kill_after_failed_execs(void)
{
    ends_leave(&main_worker);
    by_failing_exec();
    for (int i = 0; i < 50; i++)
        ends_late_call(&main_worker);
    by_kill();
}

static void *in_thread(void *how)
{
    ((void (*)(void))how)();
    return NULL;
}

static void thread_does(void (*how)(void))
{
    pthread_t thread;

    ends_need(!pthread_create(&thread, NULL, in_thread, (void *)how), "thread");
    pthread_join(thread, NULL);
}

static void (*const all[])(void) = {by__exit, by_exit, by_syscall, by_failing_exec, by_failing_exec};
static pthread_barrier_t start;

static void *with_others(void *how)
{
    pthread_barrier_wait(&start); /* while an exec is tried there are no new threads */
    (*(void (*const *)(void))how)();
    return NULL;
}

/* Several threads want to end the process, each in another way; and two the program, by an exec
 * that cannot be. */
static void by_all_at_once(void)
{
    pthread_t thread;

    pthread_barrier_init(&start, NULL, sizeof all / sizeof *all);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ends_need(!pthread_create(&thread, NULL, with_others, (void *)(uintptr_t)&all[i]), "thread");
    for (;;)
        pause();
}

static void by_exec_in_thread(void)
{
    thread_does(by_exec);
}

static void by_exit_in_thread(void)
{
    thread_does(by_exit);
}

/* The program again, with one `again` less. */
static void by_exec_of_itself(void)
{
    execv("/proc/self/exe", arguments);
}

static void by_leaving_threads(void)
{
    pthread_exit(NULL);
}

static void by_cancelling(void)
{
    for (int i = 0; i < nthreads; i++)
        pthread_cancel(threads[i]);
    for (int i = 0; i < nthreads; i++)
        pthread_join(threads[i], NULL);
    if (!nthreads)
        pthread_cancel(pthread_self());
    pthread_testcancel();
}

static void by_daemon(void)
{
    ends_need(daemon(1, 1) == 0, "daemon");
    ends_begin(&workers[THREADS_MOST - 1], 2000);
    while (ends_work(&workers[THREADS_MOST - 1], 1000))
        ;
}

static const struct ending {
    const char *name;
    void (*end)(void);
} endings[] = {{"return", by_return},
               {"exit", by_exit},
               {"_exit", by__exit},
               {"_Exit", by__Exit},
               {"quick_exit", by_quick_exit},
               {"late", by_late},
               {"syscall", by_syscall},
               {"raw", by_raw},
               {"abort", abort},
               {"segv", by_segv},
               {"term", by_term},
               {"kill", by_kill},
               {"exec", by_exec},
               {"fexecve", by_fexecve},
               {"failing_exec", by_failing_exec},
               {"failed_execs_and_kill", by_kill_after_failed_execs},
               {"exec_in_thread", by_exec_in_thread},
               {"exit_in_thread", by_exit_in_thread},
               {"at_once", by_all_at_once},
               {"again", by_exec_of_itself},
               {"pthread_exit", by_leaving_threads},
               {"cancel", by_cancelling},
               {"daemon", by_daemon}};

static void end(const char *how)
{
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (!strcmp(how, endings[i].name)) {
            endings[i].end();
            return;
        }
    ends_need(0, how);
}

/* --- work ------------------------------------------------------------------------------------- */

static void *work_on(void *argument)
{
    struct ends_worker *worker = argument;

    ends_begin(worker, ncalls / (uint64_t)nthreads);
    while (ends_work(worker, paced ? 16 : 64)) {
        pthread_testcancel();
        if (paced)
            usleep(10000);
    }
    return NULL;
}

static int all_made(uint64_t part)
{
    for (int i = 0; i < nthreads; i++)
        if (__atomic_load_n(&workers[i].made, __ATOMIC_RELAXED) * part < ncalls / (uint64_t)nthreads)
            return 0;
    return 1;
}

/* Until the main thread may end the process. */
static void work(int forever)
{
    ends_begin(&main_worker, forever ? UINT64_MAX : nthreads ? 100 : ncalls);
    if (forever)
        ncalls = UINT64_MAX;
    for (int i = 0; i < nthreads; i++)
        ends_need(!pthread_create(&threads[i], NULL, work_on, &workers[i]), "thread");
    if (forever)
        ends_need(write(1, "ready\n", 6) == 6, "write");
    while (ends_work(&main_worker, paced ? 100 : 1000))
        if (paced)
            usleep(10000);
    while (!all_made(2))
        sched_yield();
}

/* A child for each HOW. Returns 1 in a child, with what it shall do. */
static int make_children(char **how, char **child_does)
{
    for (; *how; how++) {
        pid_t pid = fork();

        ends_need(pid >= 0, "fork");
        if (pid == 0) {
            *child_does = *how;
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    char *how;
    int with_children;

    if (argc < 5)
        return 2;
    arguments = argv;
    ends_map(argv[1]);
    nthreads = atoi(argv[2]);
    ncalls = strtoull(argv[3], NULL, 10);
    how = argv[4];
    atomic_fetch_add(&ends_shared->images, 1);
    with_children = !strcmp(how, "forks") || !strcmp(how, "orphans");
    ends_without_requests = with_children || !strcmp(how, "daemon");
    if (with_children) {
        int waits = how[0] == 'f';

        ends_begin(&main_worker, 2000);
        ends_work(&main_worker, 1500);
        if (!make_children(argv + 5, &how)) {
            ends_work(&main_worker, 500);
            while (waits && (wait(NULL) > 0 || errno == EINTR))
                ;
            return 0;
        }
        atomic_fetch_add(&ends_shared->images, 1);
        ends_without_requests = !strcmp(how, "daemon");
    }
    paced = !strcmp(how, "paced");
    work(paced || !strcmp(how, "wait"));
    if (!strcmp(how, "again") && !with_children) { /* each image takes one away */
        static char text[2] = "0";
        int left = argc > 5 ? atoi(argv[5]) : 0;

        if (!left)
            return 0;
        text[0] = (char)('0' + left - 1);
        argv[5] = text;
    }
    end(how);
    return 0;
}
