/* SPDX-License-Identifier: MIT */
/* Threads that read and write in nested regions, and count what they do by themselves: "REGION CALL
 * COUNT BYTES" lines on standard output, which no library of ours has seen. REGION is the innermost
 * open one, "-" none. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dftrace/dftrace.h>

enum { READ, WRITE, PREAD, PWRITE, SEEK, CALLS };
static const char *const calls[] = {"read", "write", "pread", "pwrite", "lseek"};
static const char *const regions[] = {"-", "epoch", "load", "decode", "checkpoint", "retry"};
#define REGIONS (sizeof regions / sizeof *regions)
#define THREADS 4

static const char *directory;
static int rounds;
static struct {
    long count[REGIONS][CALLS], bytes[REGIONS][CALLS];
} counted[THREADS];

struct worker {
    int number, fd, depth;
    int open[64]; /* numbers of the regions */
    unsigned seed;
};

static void begin(struct worker *w, int region)
{
    dftrace_region_begin("PHASE", regions[region]);
    w->open[w->depth++] = region;
}

static void end(struct worker *w)
{
    dftrace_region_end("PHASE", regions[w->open[--w->depth]]);
}

static void make(struct worker *w, int call, size_t size)
{
    char buffer[4096];
    int region = w->depth ? w->open[w->depth - 1] : 0;
    long result;

    memset(buffer, 'x', sizeof buffer);
    if (call == READ)
        result = read(w->fd, buffer, size);
    else if (call == WRITE)
        result = write(w->fd, buffer, size);
    else if (call == PREAD)
        result = pread(w->fd, buffer, size, (off_t)size * 3);
    else if (call == PWRITE)
        result = pwrite(w->fd, buffer, size, (off_t)size * 2);
    else
        result = lseek(w->fd, (off_t)size, SEEK_SET);
    counted[w->number].count[region][call]++;
    if (call != SEEK && result > 0)
        counted[w->number].bytes[region][call] += result;
}

static void some(struct worker *w, int most)
{
    for (int n = (int)(rand_r(&w->seed) % (unsigned)most); n > 0; n--)
        make(w, (int)(rand_r(&w->seed) % CALLS), rand_r(&w->seed) % 4096);
}

static void retry(struct worker *w, int depth)
{
    begin(w, 5);
    some(w, 3);
    if (depth > 0)
        retry(w, depth - 1);
    some(w, 2);
    end(w);
}

static void *work(void *argument)
{
    struct worker w = {.number = *(int *)argument, .seed = (unsigned)*(int *)argument + 1};
    char path[4096];

    snprintf(path, sizeof path, "%s/file%d", directory, w.number);
    w.fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    some(&w, 5);
    for (int i = 0; i < rounds; i++) {
        begin(&w, 1);
        begin(&w, 2);
        some(&w, 8);
        begin(&w, 3);
        some(&w, 4);
        end(&w);
        make(&w, READ, 100);
        end(&w);
        some(&w, 3);
        if (i % 3 == 0) {
            begin(&w, 4);
            make(&w, WRITE, 4096);
            if (i % 2)
                retry(&w, i % 7);
            end(&w);
        }
        end(&w);
        some(&w, 2);
    }
    close(w.fd);
    return argument;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];

    if (argc != 3)
        return 2;
    directory = argv[1];
    rounds = atoi(argv[2]);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, work, &numbers[i]))
            return 1;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (size_t r = 0; r < REGIONS; r++)
        for (int c = 0; c < CALLS; c++) {
            long count = 0, bytes = 0;

            for (int i = 0; i < THREADS; i++) {
                count += counted[i].count[r][c];
                bytes += counted[i].bytes[r][c];
            }
            if (count)
                printf("%s %s %ld %ld\n", regions[r], calls[c], count, bytes);
        }
    return 0;
}
