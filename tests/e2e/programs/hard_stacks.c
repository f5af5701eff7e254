/* SPDX-License-Identifier: MIT */
/* Calls where a stack is hard to follow: on a signal stack, on the smallest thread stacks, in code
 * without tables, in children of a program whose threads are calling too. It prints what a visitor
 * would change: descriptors and errno. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static int fd;
static volatile int stop;

APART long leaf(void)
{
    char byte;

    return pread(fd, &byte, 1, 0) + 1;
}

APART void on_signal(int signal)
{
    (void)signal;
    leaf();
}

APART void on_signal_stack(void)
{
    static char memory[65536];
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 10; i++)
        raise(SIGUSR1);
}

APART void *in_small_thread(void *unused)
{
    leaf();
    return unused;
}

APART void *in_busy_thread(void *unused)
{
    while (!stop)
        leaf();
    return unused;
}

/* A frame made by hand, with a chain or without, that calls a function. */
APART void in_code_without_tables(void)
{
#if defined(__x86_64__)
    static const unsigned char chained[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
    static const unsigned char alone[] = {0x48, 0x83, 0xec, 0x38, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x38, 0xc3};
    unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    memcpy(code, chained, sizeof chained);
    memcpy(code + 100, alone, sizeof alone);
    for (int i = 0; i < 10; i++) {
        ((void (*)(long (*)(void)))(void *)code)(leaf);
        ((void (*)(long (*)(void)))(void *)(code + 100))(leaf);
    }
#endif
}

APART void in_children(void)
{
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, in_busy_thread, NULL);
    for (int i = 0; i < 50; i++) {
        int status;
        pid_t child = fork();

        if (!child) {
            alarm(60);
            _exit(leaf() == 2 ? 0 : 1);
        }
        waitpid(child, &status, 0);
        if (status)
            printf("a child ended with %d\n", status);
    }
    stop = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    pthread_attr_t attributes;
    pthread_t thread;

    (void)argc;
    fd = open(argv[0], O_RDONLY);
    errno = 0;
    on_signal_stack();
    in_code_without_tables();
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 16384);
    for (int i = 0; i < 10; i++) {
        pthread_create(&thread, &attributes, in_small_thread, NULL);
        pthread_join(thread, NULL);
    }
    in_children();
    printf("errno %d, descriptors %d %d\n", errno, fd, open(argv[0], O_RDONLY));
    return 0;
}
