/* SPDX-License-Identifier: MIT */
/* The program of fatal_test.py: each case does its calls on "file" and then ends, or not, by a
 * signal. What it is told about its handlers goes to descriptor 1, so that a run with
 * DFTRACER_BIND_SIGNALS=1 can be compared with one without any tracing. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define CALLS   20000
#define THREADS 8

static const int fatal[] = {SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGTERM};
#define FATAL (sizeof fatal / sizeof *fatal)

static int volatile *nowhere, zero;

static void work(const char *name, int calls)
{
    int fd = open(name, O_RDWR | O_CREAT, 0644);

    for (int i = 0; i < calls; i++)
        if (pwrite(fd, "x", 1, i) != 1)
            exit(99);
    close(fd);
}

__attribute__((noinline)) static void strike(const char *how)
{
    if (!strcmp(how, "segv"))
        *nowhere = 1;
    else if (!strcmp(how, "fpe"))
        zero = getpid() / zero;
    else if (!strcmp(how, "ill"))
        __builtin_trap();
    else if (!strcmp(how, "bus"))
        *(volatile char *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, open("empty", O_RDWR | O_CREAT, 0644),
                               0) = 1;
    else if (!strcmp(how, "abort"))
        abort();
    else if (!strcmp(how, "call"))
        ((void (*)(void))(uintptr_t)nowhere)();
    else
        raise(atoi(how));
}

/* --- what it is told about handlers ----------------------------------------------------------- */

static volatile sig_atomic_t handled;

static void handle(int signal)
{
    handled = signal;
}

typedef void on_signal(int signal);

static void handle_more(int signal, siginfo_t *info, void *context)
{
    handled = context && info->si_signo == signal ? signal : -1;
}

static on_signal *with_more(void)
{
    return (on_signal *)(void *)handle_more;
}

static const char *text_of(void (*handler)(int))
{
    return handler == SIG_DFL       ? "default"
           : handler == SIG_IGN     ? "ignore"
           : handler == SIG_ERR     ? "error"
           : handler == SIG_HOLD    ? "hold"
           : handler == handle      ? "handle"
           : handler == with_more() ? "handle_more"
                                    : "something else";
}

static void tell(const char *when, int signal)
{
    struct sigaction now;
    unsigned long mask;

    if (sigaction(signal, NULL, &now))
        exit(98);
    memcpy(&mask, &now.sa_mask, sizeof mask);
    printf("%s: %d %s %x %lx\n", when, signal, text_of(now.sa_handler), (unsigned)now.sa_flags, mask);
}

static void set(const char *when, int signal, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_flags = flags}, old;

    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGUSR1);
    printf("%s: %d\n", when, sigaction(signal, &action, &old));
    printf("%s: old %s %x\n", when, text_of(old.sa_handler), (unsigned)old.sa_flags);
    tell(when, signal);
}

static void strike_once(const char *when, int signal)
{
    handled = 0;
    raise(signal);
    printf("%s: handled %d\n", when, handled);
    tell(when, signal);
}

static int told(void)
{
    for (size_t i = 0; i < FATAL; i++) {
        int s = fatal[i];

        tell("at first", s);
        set("handler", s, handle, SA_RESTART);
        strike_once("handler", s);
        set("more", s, with_more(), SA_SIGINFO | SA_NODEFER);
        strike_once("more", s);
        set("default with flags", s, SIG_DFL, SA_RESTART | SA_NOCLDSTOP);
        set("ignored", s, SIG_IGN, 0);
        strike_once("ignored", s);
        set("one", s, handle, (int)SA_RESETHAND);
        strike_once("one", s);
        set("one more", s, with_more(), (int)SA_RESETHAND | SA_SIGINFO);
        set("replaced", s, handle, 0);
        printf("signal: %s\n", text_of(signal(s, SIG_DFL)));
        tell("signal", s);
        printf("signal: %s\n", text_of(signal(s, handle)));
        strike_once("signal", s);
        printf("sysv_signal: %s\n", text_of(sysv_signal(s, handle)));
        strike_once("sysv_signal", s);
        printf("sysv_signal: %s\n", text_of(sysv_signal(s, SIG_DFL)));
        printf("sigset: %s\n", text_of(sigset(s, handle)));
        strike_once("sigset", s);
        printf("sigset: %s\n", text_of(sigset(s, SIG_HOLD)));
        printf("sigset: %s\n", text_of(sigset(s, SIG_DFL)));
        tell("sigset", s);
        printf("sigset: %s\n", text_of(sigset(s, SIG_DFL)));
    }
    printf("wrong: %d %d\n", sigaction(SIGKILL, &(struct sigaction){0}, NULL), errno);
    printf("wrong: %s %d\n", text_of(signal(0, SIG_DFL)), errno);
    printf("wrong: %s %d\n", text_of(signal(SIGTERM, SIG_ERR)), errno);
    printf("system: %d\n", system("kill -TERM $$"));
    fflush(stdout);
    work("file", CALLS);
    return 7;
}

/* --- the program's own handlers --------------------------------------------------------------- */

static sigjmp_buf back;

static void jump(int signal)
{
    siglongjmp(back, signal);
}

static int jumps(void)
{
    stack_t own = {.ss_sp = malloc(65536), .ss_size = 65536}, now;
    struct sigaction action = {.sa_handler = jump, .sa_flags = SA_ONSTACK};

    sigaltstack(NULL, &now);
    printf("alternate stack: %d\n", now.ss_flags);
    sigaltstack(&own, NULL);
    sigaction(SIGSEGV, &action, NULL);
    for (volatile int i = 0; i < 1000; i++)
        if (!sigsetjmp(back, 1))
            strike("segv");
    sigaltstack(NULL, &now);
    printf("alternate stack: %d %d\n", now.ss_flags, now.ss_sp == own.ss_sp);
    work("file", CALLS);
    return 8;
}

/* What crash reporters do: a word of their own, then death by the same signal. */
static void report(int number)
{
    printf("report %d\n", number);
    fflush(stdout);
    signal(number, SIG_DFL);
    raise(number);
}

static void report_once(int number)
{
    printf("report %d\n", number);
    fflush(stdout);
    raise(number);
}

static int reports(void)
{
    signal(SIGSEGV, report);
    work("file", CALLS);
    strike("segv");
    return 0;
}

static int reports_once(void)
{
    struct sigaction action = {.sa_handler = report_once, .sa_flags = (int)SA_RESETHAND | SA_NODEFER};

    sigaction(SIGSEGV, &action, NULL);
    work("file", CALLS);
    strike("segv");
    return 0;
}

/* Handlers that end the process themselves. */
static void leave(int signal, siginfo_t *info, void *context)
{
    char here;
    stack_t now;

    sigaltstack(NULL, &now);
    printf("left %d %d %d %d\n", signal, info->si_signo, context != NULL,
           &here >= (char *)now.ss_sp && &here < (char *)now.ss_sp + now.ss_size);
    fflush(stdout);
    _exit(11);
}

static int leaves(void)
{
    stack_t own = {.ss_sp = malloc(65536), .ss_size = 65536};
    struct sigaction action = {.sa_sigaction = leave, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    sigaltstack(&own, NULL);
    sigaction(SIGSEGV, &action, NULL);
    work("file", CALLS);
    strike("segv");
    return 0;
}

/* A handler that calls the one before it, as libraries do: here there is none. */
static struct sigaction before;

static void call_the_one_before(int signal, siginfo_t *info, void *context)
{
    printf("before: %s\n", text_of(before.sa_handler));
    fflush(stdout);
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(signal, info, context);
    else if (before.sa_handler == SIG_DFL)
        sigaction(signal, &before, NULL); /* the instruction is run again */
}

static int chained(void)
{
    struct sigaction action = {.sa_sigaction = call_the_one_before, .sa_flags = SA_SIGINFO};

    sigaction(SIGSEGV, &action, &before);
    work("file", CALLS);
    strike("segv");
    return 0;
}

/* --- the heap --------------------------------------------------------------------------------- */

/* The C library ends the process while it holds the lock of its heap. */
static int heap(void)
{
    char *volatile block = malloc(5000), *volatile next = malloc(5000);

    work("file", CALLS);
    close(2); /* it has a word to say */
    dup2(open("/dev/null", O_WRONLY), 2);
    free(block);
    free(block);
    *next = 1; /* it lies between the block and the end of the heap */
    return 0;
}

/* --- threads ---------------------------------------------------------------------------------- */

static pthread_barrier_t barrier;

static void *write_and_strike(void *number)
{
    char name[16];

    snprintf(name, sizeof name, "file%d", (int)(intptr_t)number);
    work(name, CALLS);
    pthread_barrier_wait(&barrier);
    strike("segv");
    return NULL;
}

static int all_at_once(void)
{
    pthread_t threads[THREADS];

    pthread_barrier_init(&barrier, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, write_and_strike, (void *)i);
    pthread_join(threads[0], NULL);
    return 0;
}

static int hold_the_lock(struct dl_phdr_info *info, size_t size, void *held)
{
    (void)info;
    (void)size;
    *(volatile int *)held = 1;
    for (;;)
        pause();
    return 0;
}

static void *hold(void *held)
{
    dl_iterate_phdr(hold_the_lock, held);
    return NULL;
}

/* Another thread has the loader's lock for good. */
static int loader_is_locked(void)
{
    static volatile int held;
    pthread_t thread;

    work("file", CALLS);
    pthread_create(&thread, NULL, hold, (void *)&held);
    while (!held)
        usleep(1000);
    strike("segv");
    return 0;
}

/* --- stacks ----------------------------------------------------------------------------------- */

__attribute__((noinline)) static int descend(volatile char *above)
{
    volatile char room[1024];

    room[0] = above[0];
    return descend(room) + room[0];
}

static int overflow(void)
{
    work("file", CALLS);
    return descend(&(volatile char){1});
}

static int overflow_beside(void)
{
    stack_t own = {.ss_sp = malloc(16384), .ss_size = 16384};

    sigaltstack(&own, NULL);
    return overflow();
}

/* As little as the kernel takes, in a thread that is not the first. */
static void *overflow_in_thread(void *unused)
{
    size_t bytes = (size_t)sysconf(_SC_MINSIGSTKSZ);
    stack_t own = {.ss_sp = malloc(bytes), .ss_size = bytes};

    (void)unused;
    if (sigaltstack(&own, NULL))
        exit(95);
    exit(overflow());
}

static int overflow_beside_little(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, overflow_in_thread, NULL);
    pthread_join(thread, NULL);
    return 0;
}

/* --- stacks that are damaged ------------------------------------------------------------------ */

static uint64_t frame_word, return_word;

/* Puts other words in the place of its caller's frame and of where it returns to. */
static void smash(void)
{
    uint64_t *frame = __builtin_frame_address(0);

    for (int i = 0; i < 64; i += 2) {
        frame[i] = frame_word;
        frame[i + 1] = return_word;
    }
    strike("segv");
}

/* On a stack with a page above that cannot be read. */
static int smash_on_own_stack(uint64_t in_frame, uint64_t in_return)
{
    char *stack = mmap(NULL, 80 << 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ucontext_t context, here;

    mprotect(stack + (64 << 10), 16 << 10, PROT_NONE);
    frame_word = in_frame ? in_frame : (uint64_t)stack + (64 << 10);
    return_word = in_return;
    getcontext(&context);
    context.uc_stack = (stack_t){.ss_sp = stack, .ss_size = 60 << 10};
    context.uc_link = NULL;
    makecontext(&context, smash, 0);
    work("file", CALLS);
    return swapcontext(&here, &context);
}

static int smashed_wild(void)
{
    return smash_on_own_stack(0x4141414141414141, 0x4141414141414141);
}

static int smashed_low(void)
{
    return smash_on_own_stack(8, 16);
}

static int smashed_guard(void)
{
    return smash_on_own_stack(0, (uint64_t)malloc(100) + 32); /* NOLINT: past its end */
}

/* --- masks ------------------------------------------------------------------------------------ */

static int waits(void)
{
    sigset_t blocked, none;

    sigemptyset(&none);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    work("file", CALLS);
    raise(SIGTERM); /* waits */
    sigsuspend(&none);
    return 0;
}

/* --- children --------------------------------------------------------------------------------- */

static int child_of_vfork(void)
{
    int status;
    pid_t pid = vfork();

    if (!pid) {
        strike("segv");
        _exit(1);
    }
    waitpid(pid, &status, 0);
    printf("child: %x\n", status & 0x7f);
    work("file", CALLS);
    return 9;
}

static int child_of_fork(void)
{
    int status;
    pid_t pid;

    work("file", CALLS);
    pid = fork();
    if (!pid) {
        work("child", CALLS);
        strike("segv");
    }
    waitpid(pid, &status, 0);
    printf("child: %x\n", status & 0x7f);
    return 9;
}

/* All of the status, with what it says of a core; and a program that a child becomes. */
static int core(void)
{
    struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    static const char *const ways[] = {"segv", "abort", "15"};
    int status;

    work("file", CALLS);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        pid_t pid = fork();

        if (!pid) {
            setrlimit(RLIMIT_CORE, &all);
            work(ways[i], 100);
            strike(ways[i]);
        }
        waitpid(pid, &status, 0);
        printf("status: %x\n", status);
    }
    return 12;
}

static int child_of_exec(void)
{
    int status;
    pid_t pid;

    work("file", CALLS);
    fflush(stdout);
    pid = fork();
    if (!pid) {
        execl("/proc/self/exe", "fatal", "die", "segv", (char *)NULL);
        _exit(94);
    }
    waitpid(pid, &status, 0);
    printf("child: %x\n", status & 0x7f);
    return 9;
}

/* --- surroundings ----------------------------------------------------------------------------- */

static int other_file(void)
{
    int fd = open("data", O_RDWR | O_CREAT, 0644);

    work("file", CALLS);
    dup2(fd, 2);
    strike("segv");
    return 0;
}

/* No handler may be set any more, nor a signal be queued. */
static int filtered(void)
{
    struct sock_filter list[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigaction, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_tgsigqueueinfo, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    struct sock_fprog filter = {sizeof list / sizeof *list, list};

    work("file", 1000);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        return 97;
    strike("segv");
    return 0;
}

/* The signals that have a handler, as the kernel knows them. */
static int caught(void)
{
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");

    while (fgets(line, sizeof line, file))
        if (!strncmp(line, "SigCgt", 6))
            fputs(line, stdout);
    fclose(file);
    work("file", 1);
    return 0;
}

/* What the program was started with. */
static int start(void)
{
    for (char **at = environ; *at; at++)
        if (strncmp(*at, "LD_PRELOAD", 10) && strncmp(*at, "DFTRACER", 8))
            puts(*at);
    puts(program_invocation_name);
    puts(program_invocation_short_name);
    fflush(stdout);
    work("file", 1);
    return 0;
}

static int spared(void)
{
    work("file", CALLS);
    for (size_t i = 0; i < FATAL; i++)
        if (fatal[i] == SIGTERM || fatal[i] == SIGINT || fatal[i] == SIGHUP || fatal[i] == SIGQUIT)
            kill(getpid(), fatal[i]);
    return 10;
}

static const struct {
    const char *name;
    int (*run)(void);
} cases[] = {{"told", told},
             {"jumps", jumps},
             {"reports", reports},
             {"reports_once", reports_once},
             {"leaves", leaves},
             {"chained", chained},
             {"heap", heap},
             {"all_at_once", all_at_once},
             {"loader_is_locked", loader_is_locked},
             {"overflow", overflow},
             {"overflow_beside", overflow_beside},
             {"overflow_beside_little", overflow_beside_little},
             {"smashed_wild", smashed_wild},
             {"smashed_low", smashed_low},
             {"smashed_guard", smashed_guard},
             {"waits", waits},
             {"child_of_vfork", child_of_vfork},
             {"child_of_fork", child_of_fork},
             {"child_of_exec", child_of_exec},
             {"core", core},
             {"other_file", other_file},
             {"filtered", filtered},
             {"caught", caught},
             {"start", start},
             {"spared", spared}};

int main(int argc, char **argv)
{
    struct rlimit none = {0};

    none.rlim_max = RLIM_INFINITY;
    setrlimit(RLIMIT_CORE, &none);
    for (size_t i = 0; argc == 2 && i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(argv[1], cases[i].name))
            return cases[i].run();
    if (argc != 3)
        return 96;
    work("file", CALLS);
    strike(argv[2]);
    return 0;
}
