/* SPDX-License-Identifier: MIT */
/* The program of unwind_test.py in C: functions and calls that are hard to walk through. Compiled
 * in several ways. */
#include <alloca.h>
#include <dirent.h>
#include <ftw.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

extern char **environ;
static volatile long sink;

/* --- frames ----------------------------------------------------------------------------------- */

__attribute__((noinline)) static long leaf(long a)
{
    return a * 3 + 1;
}

__attribute__((noinline)) static long many(long a, long b, long c, long d, long e, long f, long g, long h)
{
    sink = a ^ b ^ c ^ d ^ e ^ f ^ g ^ h; /* some lie on the stack */
    return leaf(a + h) + leaf(g);
}

__attribute__((noinline)) static long tail(long n)
{
    return n > 100 ? leaf(n) : tail(n + 7);
}

__attribute__((noinline)) static long deep(long n)
{
    return n ? deep(n - 1) + n : leaf(n);
}

__attribute__((noinline)) static long vla(long n)
{
    char room[n * 16];

    memset(room, (int)n, sizeof room);
    return leaf(room[n]) + (long)strlen(strcpy(room, "text"));
}

__attribute__((noinline)) static long dynamic(long n)
{
    char *room = alloca((size_t)n);

    for (long i = 0; i < n; i++)
        room[i] = (char)leaf(i);
    return leaf(room[n / 2]);
}

__attribute__((noinline)) static long large(void)
{
    volatile char room[3 << 20];

    room[0] = 1;
    room[sizeof room - 1] = 2;
    return leaf(room[0] + room[sizeof room - 1]);
}

/* Its stack is aligned by hand: the caller's frame is found through a saved register. */
__attribute__((noinline)) static long aligned(long n)
{
    _Alignas(128) volatile char room[256];
    char *more = alloca((size_t)n);

    memset(more, 1, (size_t)n);
    room[n] = more[n / 2];
    return leaf(room[n]) + many(1, 2, 3, 4, 5, 6, 7, n);
}

__attribute__((noinline)) static long variadic(int count, ...)
{
    va_list list;
    long sum = 0;
    double half = 0;

    va_start(list, count);
    while (count--) {
        sum += va_arg(list, int);
        half += va_arg(list, double);
    }
    va_end(list);
    return sum + (long)half;
}

static jmp_buf back;

__attribute__((noinline, noreturn)) static void leave(int value)
{
    longjmp(back, value);
}

__attribute__((noinline)) static long jumps(void)
{
    if (!setjmp(back))
        leave(3);
    return leaf(1);
}

/* --- callbacks -------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    return (int)leaf(*(const int *)a) - (int)leaf(*(const int *)b);
}

static int look(struct dl_phdr_info *info, size_t size, void *count)
{
    *(int *)count += info->dlpi_phnum + (int)size;
    return 0;
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int visit(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    sink = (long)strlen(path) + kind + at->level + (long)st->st_size;
    return 0;
}

static void callbacks(void)
{
    int numbers[40], key = 7, count = 0, n;
    struct dirent **entries;

    for (int i = 0; i < 40; i++)
        numbers[i] = i * 17 % 40;
    qsort(numbers, 40, sizeof *numbers, by_value);
    sink = bsearch(&key, numbers, 40, sizeof *numbers, by_value) != NULL;
    dl_iterate_phdr(look, &count);
    n = scandir(".", &entries, not_hidden, alphasort);
    while (n-- > 0)
        free(entries[n]);
    nftw(".", visit, 8, FTW_PHYS);
}

/* --- signals ---------------------------------------------------------------------------------- */

static sigjmp_buf out;

static void on_signal(int signal)
{
    sink = leaf(signal) + deep(2);
}

static void on_signal_in_signal(int signal, siginfo_t *info, void *context)
{
    sink = leaf(signal) + (info != NULL) + (context != NULL);
    raise(SIGUSR1);
}

static void on_fault(int signal)
{
    siglongjmp(out, signal);
}

static void signals(void)
{
    stack_t beside = {.ss_sp = malloc(65536), .ss_size = 65536};
    struct sigaction nested = {.sa_sigaction = on_signal_in_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction fault = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};

    sigaltstack(&beside, NULL);
    signal(SIGUSR1, on_signal);
    sigaction(SIGUSR2, &nested, NULL);
    sigaction(SIGSEGV, &fault, NULL);
    raise(SIGUSR1);
    kill(getpid(), SIGUSR2);
    if (!sigsetjmp(out, 1))
        *(volatile int *)NULL = 1;
    signal(SIGALRM, on_signal);
    raise(SIGALRM);
}

/* --- processes and threads -------------------------------------------------------------------- */

static void processes(void)
{
    char *command[] = {"true", NULL};
    int status;
    pid_t child = vfork();

    if (!child) {
        execvp(command[0], command);
        _exit(1);
    }
    waitpid(child, &status, 0);
    if (!posix_spawnp(&child, "true", NULL, NULL, command, environ))
        waitpid(child, &status, 0);
    sink = system("true");
}

static void clean(void *argument)
{
    sink = leaf((long)argument);
}

static void *in_thread(void *argument)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_cleanup_push(clean, argument);
    sink = deep((long)argument) + large();
    pthread_once(&once, callbacks);
    pthread_cleanup_pop(1);
    return NULL;
}

static void threads(void)
{
    pthread_t thread;

    for (long i = 0; i < 2 && !pthread_create(&thread, NULL, in_thread, (void *)(i + 2)); i++)
        pthread_join(thread, NULL);
}

static ucontext_t here, there;

static void in_context(int a, int b)
{
    sink = leaf(a) + deep(b);
    swapcontext(&there, &here);
    sink = leaf(b);
}

static void contexts(void)
{
    getcontext(&there);
    there.uc_stack = (stack_t){.ss_sp = malloc(65536), .ss_size = 65536};
    there.uc_link = &here;
    makecontext(&there, (void (*)(void))(void *)in_context, 2, 3, 4);
    swapcontext(&here, &there);
    swapcontext(&here, &there);
}

/* --- the C library ---------------------------------------------------------------------------- */

static void library(void)
{
    char text[512], *end;
    struct tm now;
    time_t second = 86400;
    FILE *stream = tmpfile();

    snprintf(text, sizeof text, "%d %s %g %Lf %lc", 1, "two", 3.3, 4.4L, 'c');
    sink = strtol(text, &end, 10) + (long)strtod("3.75e2", NULL);
    strftime(text, sizeof text, "%c %Z", localtime_r(&second, &now));
    sink = (long)clock() + time(NULL);
    if (stream) {
        fprintf(stream, "%s\n", text);
        rewind(stream);
        sink = fgets(text, sizeof text, stream) != NULL;
        fclose(stream);
    }
    sink = memcmp(text, "aaaa", 4) + (long)(strstr(text, "70") - text) + (strchr(text, 'x') != NULL);
    setenv("PLACE", text, 1);
    sink = getenv("PLACE") != NULL;
}

static void at_exit(void)
{
    sink = deep(3);
}

long dft_places_assembler(long (*call)(long)); /* places_asm.S */

int main(void)
{
    atexit(at_exit);
    sink = many(1, 2, 3, 4, 5, 6, 7, 8) + tail(3) + deep(12) + vla(9) + dynamic(20) + large() + aligned(17);
    sink += variadic(3, 1, 1.5, 2, 2.5, 3, 3.5) + jumps() + dft_places_assembler(leaf);
    callbacks();
    signals();
    processes();
    threads();
    contexts();
    library();
    return 0;
}
