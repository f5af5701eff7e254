/* SPDX-License-Identifier: MIT */
/* A program whose functions a compiler has instrumented. It counts their calls itself, by name, and
 * prints the counts: "NAME COUNT". */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLAIN   __attribute__((no_instrument_function))
#define KEPT    __attribute__((noinline))
#define COUNT() __atomic_add_fetch(&count_of(__func__)->count, 1, __ATOMIC_RELAXED)

static struct counter {
    const char *name;
    long count;
} counters[32];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static PLAIN struct counter *count_of(const char *name)
{
    struct counter *counter = counters;

    pthread_mutex_lock(&lock);
    while (counter->name && strcmp(counter->name, name) != 0)
        counter++;
    counter->name = name;
    pthread_mutex_unlock(&lock);
    return counter;
}

static int fd;
static jmp_buf jumps[4];

KEPT void write_byte(void)
{
    COUNT();
    if (write(fd, "x", 1) != 1)
        perror("write");
}

/* A call at the end may become a jump, and the exit of the function what the last jump goes to. */
KEPT int at_the_end(int n)
{
    COUNT();
    write_byte();
    return n;
}

KEPT int deep(int n)
{
    COUNT();
    if (!n) {
        write_byte();
        return 0;
    }
    return at_the_end(0) + deep(n - 1) + 1;
}

static KEPT int of_this_file(int n)
{
    COUNT();
    return n > 1 ? of_this_file(n / 2) * 2 : 1;
}

KEPT void jumping(int n)
{
    COUNT();
    if (n == 3)
        longjmp(jumps[1], 1);
    if (!setjmp(jumps[n]))
        jumping(n + 1);
    write_byte();
}

KEPT void behind_the_jump(void)
{
    COUNT();
    write_byte();
}

/* Jumps that nothing around them ends, again and again. */
KEPT void thrown_out(int n)
{
    COUNT();
    if (!n)
        longjmp(jumps[3], 1);
    thrown_out(n - 1);
}

KEPT void many_jumps(void)
{
    static int i;

    COUNT();
    for (i = 0; i < 100; i++)
        if (!setjmp(jumps[3]))
            thrown_out(4);
}

/* A variable array moves the stack between the function's two hooks. */
KEPT int with_array(int n)
{
    char array[n];

    COUNT();
    memset(array, 0, (size_t)n);
    return n > 16 ? with_array(n / 2) + array[1] : 0;
}

static char stack[65536];

KEPT void in_handler(int number)
{
    COUNT();
    at_the_end(number);
}

KEPT void interrupted(int n)
{
    COUNT();
    if (n)
        interrupted(n - 1);
    else
        raise(SIGUSR1);
}

KEPT void *in_thread(void *argument)
{
    COUNT();
    for (int i = 0; i < 300; i++)
        deep(i % 5);
    return argument;
}

int main(int argc, char **argv)
{
    stack_t alternate;
    struct sigaction action;
    pthread_t threads[3];

    COUNT();
    if (argc != 2)
        return 2;
    fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    deep(1000);
    of_this_file(1000);
    jumping(0);
    behind_the_jump();
    many_jumps();
    behind_the_jump();
    with_array(4096);
    memset(&alternate, 0, sizeof alternate);
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof stack;
    sigaltstack(&alternate, NULL);
    memset(&action, 0, sizeof action);
    action.sa_handler = in_handler;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, NULL);
    interrupted(3);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, in_thread, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; counters[i].name; i++)
        printf("%s %ld\n", counters[i].name, counters[i].count);
    return 0;
}
