/* SPDX-License-Identifier: MIT */
/* Programs that give room back and count on finding it free: by MAP_FIXED, by MAP_FIXED_NOREPLACE, by stacks that grow down, by sbrk.
 * Between giving back and taking, the program does I/O, and so do new threads and children. A line for each way. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS 300 /* more than a first ring has room for */
#define KIB   1024u
#define MIB   (1024u * 1024u)
#define SIZES 6

static const size_t sizes[SIZES] = {64 * MIB, 2 * MIB, 256 * KIB, 64 * KIB, 24 * KIB, 4 * KIB};
static const char *file;

static void io(int calls)
{
    char byte;
    int fd = open(file, O_RDONLY);

    for (int i = 0; i < calls; i++)
        if (pread(fd, &byte, 1, 0) != 1)
            abort();
    close(fd);
}

static void *io_of_thread(void *unused)
{
    (void)unused;
    io(CALLS);
    return NULL;
}

/* Room that is free now, and stays free for all that the program knows. */
static char *make_hole(size_t size)
{
    char *hole = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (hole == MAP_FAILED || munmap(hole, size))
        abort();
    return hole;
}

/* The bytes stay as they are while more I/O is done. */
static int keeps(char *at, size_t size)
{
    size_t changed = 0;

    for (size_t i = 0; i < size; i += KIB)
        at[i] = (char)(i >> 10);
    io(5 * CALLS);
    for (size_t i = 0; i < size; i += KIB)
        changed += at[i] != (char)(i >> 10);
    return !changed;
}

static int take_again(char *hole, size_t size, int how)
{
    char *taken = mmap(hole, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | how, -1, 0);
    int good = taken == hole && keeps(taken, size);

    if (taken != MAP_FAILED)
        munmap(taken, size);
    return good;
}

static int take_fixed(size_t size, int how)
{
    char *hole = make_hole(size);

    io(5 * CALLS);
    return take_again(hole, size, how);
}

/* Each call needs more of the stack than the one before. */
static int grow(int depth)
{
    volatile char frame[32 * KIB];

    memset((char *)frame, depth, sizeof frame);
    io(20);
    return (!depth || grow(depth - 1)) && frame[0] == depth && frame[sizeof frame - 1] == depth;
}

static void *grow_in_thread(void *good)
{
    *(int *)good = grow(60);
    return NULL;
}

/* A stack of 64 KiB that the kernel lets grow into the hole below it. */
static int grow_stack(void)
{
    const size_t room = 16 * MIB, least = 64 * KIB;
    char *hole = make_hole(room), *stack;
    pthread_attr_t attributes;
    pthread_t thread;
    int good = 0;

    stack = mmap(hole + room - least, least, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_GROWSDOWN, -1, 0);
    if (stack == MAP_FAILED)
        return 0;
    io(5 * CALLS);
    pthread_attr_init(&attributes);
    if (pthread_attr_setstack(&attributes, stack, least) || pthread_create(&thread, &attributes, grow_in_thread, &good))
        return 0;
    pthread_join(thread, NULL);
    return good;
}

static int grow_break(void)
{
    char *from = sbrk(0);

    for (int i = 0; i < 40; i++) {
        if (sbrk(256 * KIB) != from + (size_t)i * 256 * KIB)
            return 0;
        io(20);
    }
    return keeps(from, 40 * 256 * KIB) && sbrk(-40 * 256 * (int)KIB) != (void *)-1;
}

/* Threads that begin and end between giving room back and taking it. */
static int take_after_threads(size_t size)
{
    pthread_t threads[4];
    char *hole;

    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, io_of_thread, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    hole = make_hole(size);
    for (int i = 0; i < 4; i++) /* on stacks that are there */
        pthread_create(&threads[i], NULL, io_of_thread, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return take_again(hole, size, MAP_FIXED_NOREPLACE);
}

static void take(const char *who, const char *way)
{
    int good = 0;

    if (!strcmp(way, "stack"))
        good = grow_stack();
    else if (!strcmp(way, "break"))
        good = grow_break();
    else
        for (int i = 0; i < SIZES; i++)
            good += !strcmp(way, "threads") || !strcmp(way, "child")
                        ? take_after_threads(sizes[i])
                        : take_fixed(sizes[i], *way == 'f' ? MAP_FIXED : MAP_FIXED_NOREPLACE);
    printf("%s: %s %d\n", who, way, good);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int status;
    pid_t child;

    if (argc != 3)
        return 2;
    file = argv[2];
    if (strcmp(argv[1], "child")) /* else the child does the first I/O */
        take("first", argv[1]);
    child = fork();
    if (!child) {
        take("child", argv[1]);
        _exit(0);
    }
    waitpid(child, &status, 0);
    printf("child: %d\n", status);
    take("last", argv[1]);
    return 0;
}
