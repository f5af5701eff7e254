/* SPDX-License-Identifier: MIT */
/* Spans, flows, arguments, metadata, pauses and mistakes, from C. Driven by spans_test.py; links
 * nothing but threads. */
#include <dftrace/dftrace.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static int fd;

static void write_byte(void)
{
    if (write(fd, "x", 1) != 1)
        perror("write");
}

static void in_thread(void *(*function)(void *), void *argument)
{
    pthread_t thread;

    if (!pthread_create(&thread, NULL, function, argument))
        pthread_join(thread, NULL);
}

/* --- spans ------------------------------------------------------------------------------------ */

static void *end_span(void *span)
{
    struct dftrace_arg args[2];

    args[0] = dftrace_int("status", -3);
    args[1] = dftrace_string("how", "well");
    DFTRACE_SPAN_END_ARGS((struct dftrace_span *)span, args, 2);
    return NULL;
}

static void *end_number(void *id)
{
    DFTRACE_ASYNC_END("numbered", *(uint64_t *)id);
    return NULL;
}

/* Begun here, ended in other threads, while regions come and go; two at once under one name. */
static void spans(void)
{
    struct dftrace_span parent, children[3];
    struct dftrace_arg arg = dftrace_double("size", 2.5);
    uint64_t number = 77;

    DFTRACE_BEGIN("around the begin");
    DFTRACE_SPAN_BEGIN_ARGS(&parent, "QUEUE", "request", 0, &arg, 1);
    DFTRACE_ASYNC_BEGIN("numbered", number);
    DFTRACE_END("around the begin");
    for (int i = 0; i < 3; i++)
        DFTRACE_SPAN_CHILD(&children[i], &parent, "part");
    in_thread(end_span, &children[1]);
    in_thread(end_span, &children[0]);
    in_thread(end_number, &number);
    in_thread(end_span, &children[2]);
    in_thread(end_span, &parent);
}

/* A coroutine is the same one in whatever thread it goes on. */
static ucontext_t caller, coroutine;
static struct dftrace_span task;
static char stack[65536];

static void body(void)
{
    DFTRACE_BEGIN("in the coroutine");
    write_byte();
    DFTRACE_END("in the coroutine");
    swapcontext(&coroutine, &caller);
    write_byte();
}

static void *go_on(void *argument)
{
    DFTRACE_SPAN_RESUME(&task);
    swapcontext(&caller, &coroutine);
    DFTRACE_SPAN_SUSPEND(&task);
    return argument;
}

static void coroutines(void)
{
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = sizeof stack;
    coroutine.uc_link = &caller;
    makecontext(&coroutine, body, 0);
    DFTRACE_SPAN_BEGIN(&task, "task");
    DFTRACE_BEGIN("scheduler");
    go_on(NULL);
    write_byte();
    DFTRACE_END("scheduler");
    in_thread(go_on, NULL);
    DFTRACE_SPAN_END(&task);
}

/* --- the rest of what there is ---------------------------------------------------------------- */

static void *receive(void *id)
{
    DFTRACE_BEGIN("receiver");
    DFTRACE_FLOW_STEP("message", *(uint64_t *)id);
    DFTRACE_END("receiver");
    return NULL;
}

static void flows(void)
{
    uint64_t id = dftrace_new_id(), other = dftrace_new_id();

    DFTRACE_BEGIN("sender");
    DFTRACE_FLOW_START("message", id);
    DFTRACE_END("sender");
    in_thread(receive, &id);
    DFTRACE_BEGIN("end of it");
    DFTRACE_FLOW_FINISH("message", id);
    DFTRACE_END("end of it");
    if (id == other && id)
        puts("one id twice");
}

static void arguments(void)
{
    struct dftrace_arg args[3];

    args[0] = dftrace_int("begun", 1);
    args[1] = dftrace_string("text", "at the begin");
    args[2] = dftrace_double("half", 0.5);
    DFTRACE_BEGIN_ARGS("both ends", args, 3);
    args[0] = dftrace_int("ended", 2);
    DFTRACE_END_ARGS("both ends", args, 1);
    DFTRACE_INSTANT_ARGS("moment", args, 2);
    DFTRACE_METADATA_INT("layers", 12);
    DFTRACE_METADATA_DOUBLE("rate", 0.125);
    DFTRACE_JOB_METADATA("experiment", "no. 7");
    DFTRACE_JOB_METADATA_INT("nodes", 3);
}

static void *write_twice(void *argument)
{
    write_byte();
    write_byte();
    return argument;
}

static void pauses(const char *path)
{
    int other;

    DFTRACE_BEGIN("kept");
    DFTRACE_PAUSE_THREAD();
    DFTRACE_BEGIN("not kept");
    write_byte();
    other = open(path, O_WRONLY | O_CREAT, 0600); /* its name is needed afterwards */
    DFTRACE_END("not kept");
    in_thread(write_twice, NULL); /* others are recorded */
    DFTRACE_PAUSE_PROCESS();
    in_thread(write_twice, NULL);
    DFTRACE_RESUME_THREAD();
    write_byte();
    DFTRACE_RESUME_PROCESS();
    if (write(other, "abc", 3) != 3)
        perror("write");
    close(other);
    DFTRACE_END("kept");
}

/* All that was recorded is in the trace of a child that is killed without a live file. */
static void flushed(void)
{
    pid_t child = fork();

    if (!child) {
        DFTRACE_BEGIN("flushed");
        DFTRACE_END("flushed");
        DFTRACE_FLUSH();
        kill(getpid(), SIGKILL);
    }
    waitpid(child, NULL, 0);
}

/* --- mistakes --------------------------------------------------------------------------------- */

static void *end_foreign(void *argument)
{
    DFTRACE_END("of another thread");
    return argument;
}

static void mistakes(void)
{
    struct dftrace_span span, twice, never[2];
    static char huge[1 << 20];
    char name[32];

    memset(huge, 'h', sizeof huge - 1);
    DFTRACE_END("never begun");
    DFTRACE_BEGIN("of another thread");
    in_thread(end_foreign, NULL);
    DFTRACE_END("of another thread");
    DFTRACE_BEGIN("outer");
    DFTRACE_BEGIN("inner");
    DFTRACE_BEGIN("innermost");
    DFTRACE_END("outer");
    DFTRACE_SPAN_BEGIN(&span, "never ended");
    DFTRACE_SPAN_BEGIN(&twice, "twice");
    DFTRACE_SPAN_END(&twice);
    DFTRACE_SPAN_END(&twice);
    memset(never, 0xff, sizeof never);
    never[1].id = 1;
    never[1].start = 2;
    for (int i = 0; i < 2; i++) {
        DFTRACE_SPAN_RESUME(&never[i]);
        DFTRACE_SPAN_SUSPEND(&never[i]);
        DFTRACE_SPAN_END(&never[i]);
    }
    DFTRACE_ASYNC_END("numbered", 12345);
    DFTRACE_ARG_INT("nowhere", 1);
    DFTRACE_BEGIN("null");
    DFTRACE_ARG_STRING("null", NULL);
    DFTRACE_ARG_INT(NULL, 1);
    dftrace_region_begin(NULL, NULL);
    dftrace_region_end(NULL, NULL);
    DFTRACE_END("null");
    DFTRACE_METADATA("null", NULL);
    DFTRACE_SPAN_END((struct dftrace_span *)0);
    dftrace_region_begin(huge, huge);
    DFTRACE_ARG_STRING("huge", huge);
    dftrace_region_end(huge, huge);
    DFTRACE_RESUME_THREAD();
    DFTRACE_SPAN_SUSPEND(&span);
    for (uint64_t i = 0; i < 9000; i++)
        DFTRACE_ASYNC_BEGIN("many", i);
    for (uint64_t i = 0; i < 9000; i++)
        DFTRACE_ASYNC_END("many", i);
    DFTRACE_BEGIN("name after name");
    for (int i = 0; i < 100000; i++) {
        sprintf(name, "n%d", i);
        dftrace_region_begin("NAMES", name);
        dftrace_region_end("NAMES", name);
    }
    DFTRACE_END("name after name");
}

/* More often than there would be room for all values. */
static void updates(void)
{
    DFTRACE_BEGIN("outer updates");
    DFTRACE_ARG_STRING("as", "text first");
    DFTRACE_BEGIN("updates");
    for (int i = 0; i < 5000; i++) {
        DFTRACE_ARG_INT("step", i);
        DFTRACE_ARG_DOUBLE("loss", 1.0 / (i + 1));
        DFTRACE_ARG_OF("outer updates", dftrace_int("epoch", -i));
        DFTRACE_ARG_OF("outer updates", dftrace_int("as", i));
    }
    DFTRACE_ARG_STRING("step", "a text instead");
    DFTRACE_ARG_INT("step", 6000);
    DFTRACE_END("updates");
    DFTRACE_END("outer updates");
}

static jmp_buf top;

static void jump(int depth)
{
    DFTRACE_BEGIN("jumper");
    if (depth)
        jump(depth - 1);
    else
        longjmp(top, 1);
}

static void jumps(void)
{
    DFTRACE_BEGIN("before the jump");
    if (!setjmp(top))
        jump(2);
    write_byte();
    DFTRACE_END("before the jump");
    write_byte();
}

static void on_signal(int number)
{
    DFTRACE_BEGIN("handler");
    DFTRACE_ARG_INT("signal", number);
    DFTRACE_END("handler");
}

static void *left_open(void *argument)
{
    DFTRACE_BEGIN("left by its thread");
    return argument;
}

static void signals(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigaction(SIGUSR1, &action, NULL);
    DFTRACE_BEGIN("interrupted");
    DFTRACE_ARG_INT("before", 1);
    raise(SIGUSR1);
    DFTRACE_ARG_INT("after", 2);
    DFTRACE_END("interrupted");
}

int main(int argc, char **argv)
{
    int kept;

    if (argc != 4)
        return 2;
    fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    errno = EOWNERDEAD;
    if (!strcmp(argv[2], "all")) {
        spans();
        coroutines();
        flows();
        arguments();
        pauses(argv[3]);
        jumps();
        signals();
        kept = errno == EOWNERDEAD;
        flushed();
    } else if (!strcmp(argv[2], "updates")) {
        updates();
        kept = errno == EOWNERDEAD;
    } else {
        mistakes();
        kept = errno == EOWNERDEAD;
        in_thread(left_open, NULL);
        DFTRACE_BEGIN("left by the process");
    }
    printf("enabled %d, errno kept %d\n", dftrace_enabled(), kept);
    return 0;
}
