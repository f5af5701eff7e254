/* SPDX-License-Identifier: MIT */
/* Threads that submit requests, ask for the result of every second one, say that they are ready,
 * and wait to be killed. */
#include <aio.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <dftrace/dftrace.h>

#define THREADS  3
#define REQUESTS 40

static struct aiocb blocks[THREADS][REQUESTS];
static pthread_barrier_t submitted;
static int fd;

static void *submit(void *argument)
{
    int number = (int)(long)argument;

    dftrace_region_begin("requests", "submitting");
    for (int i = 0; i < REQUESTS; i++) {
        struct aiocb *block = &blocks[number][i];
        const struct aiocb *list[] = {block};

        block->aio_fildes = fd;
        block->aio_buf = "some bytes";
        block->aio_nbytes = (size_t)(1 + number);
        block->aio_offset = number * 1000 + i * 10;
        if (aio_write(block))
            exit(98);
        while (i % 2 && aio_suspend(list, 1, NULL))
            ;
        if (i % 2 && aio_return(block) != 1 + number)
            exit(99);
    }
    dftrace_region_end("requests", "submitting");
    pthread_barrier_wait(&submitted);
    pause();
    return NULL;
}

int main(void)
{
    pthread_t thread;

    fd = open("file", O_RDWR | O_CREAT, 0644);
    pthread_barrier_init(&submitted, NULL, THREADS + 1);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&thread, NULL, submit, (void *)i);
    pthread_barrier_wait(&submitted);
    if (fork() == 0) { /* the requests are not this one's */
        close(open("child", O_WRONLY | O_CREAT, 0644));
        printf("ready\n");
        fflush(stdout);
        pause();
    }
    pause();
}
