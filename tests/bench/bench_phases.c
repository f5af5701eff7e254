/* SPDX-License-Identifier: MIT */
/* Owns the phases of the long run of the limit of cost. Run by governor.py.
 *
 *   bench_phases measure FILE SECONDS    prints the numbers of calls that fill SECONDS
 *   bench_phases work FILE ROUNDS GETCS PREADS PAUSES
 *       each round: GETCS characters of FILE, PREADS of 4 KiB, and PAUSES, each with one pread. Prints
 *       how many calls it made, processor time (ns) of each phase, and the time of a clock's reading */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define BLOCK_BYTES 4096
#define FILE_BLOCKS 256
#define PAUSE_NS    100000000
#define BATCH       10000
#define READINGS    256
#define TRIES       64
#define PHASES      3
#define ROUNDS_MAX  100

static FILE *file;
static int fd;
static long made[PHASES]; /* getc, pread, rewind */

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void do_getc(long count)
{
    for (long i = 0; i < count; i++)
        if (getc(file) == EOF) {
            rewind(file);
            made[2]++;
        }
    made[0] += count;
}

static void do_pread(long count)
{
    char buffer[BLOCK_BYTES];

    for (long i = 0; i < count; i++)
        if (pread(fd, buffer, sizeof buffer, i % FILE_BLOCKS * BLOCK_BYTES) != sizeof buffer)
            die("pread");
    made[1] += count;
}

static void do_pause(long count)
{
    for (long i = 0; i < count; i++) {
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        do_pread(1);
    }
}

static void (*const phases[PHASES])(long) = {do_getc, do_pread, do_pause};

/* How many calls a phase makes in so many seconds. */
static long fill(void (*phase)(long), double seconds)
{
    uint64_t begin = now_ns(CLOCK_MONOTONIC);
    long count = 0;

    while ((double)(now_ns(CLOCK_MONOTONIC) - begin) < seconds * 1e9) {
        phase(BATCH);
        count += BATCH;
    }
    return count;
}

/* As the library measures it. */
static double reading_ns(void)
{
#if defined(__x86_64__)
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < TRIES; i++) {
        uint64_t begin = now_ns(CLOCK_MONOTONIC), ns;
        volatile uint64_t sink;

        for (int j = 0; j < READINGS; j++)
            sink = __rdtsc();
        (void)sink;
        ns = now_ns(CLOCK_MONOTONIC) - begin;
        best = ns < best ? ns : best;
    }
    return (double)best / READINGS;
#else
    return 10;
#endif
}

static void work(long rounds, const long counts[PHASES])
{
    static uint64_t cpu_ns[ROUNDS_MAX][PHASES];

    for (long round = 0; round < rounds; round++)
        for (int phase = 0; phase < PHASES; phase++) {
            uint64_t begin = now_ns(CLOCK_PROCESS_CPUTIME_ID);

            phases[phase](counts[phase]);
            cpu_ns[round][phase] = now_ns(CLOCK_PROCESS_CPUTIME_ID) - begin;
        }
    printf("{\"calls\": {\"getc\": %ld, \"pread\": %ld, \"rewind\": %ld}, \"reading_ns\": %.2f, \"cpu_ns\": [", made[0],
           made[1], made[2], reading_ns());
    for (long round = 0; round < rounds; round++)
        printf("%s[%llu, %llu, %llu]", round ? ", " : "", (unsigned long long)cpu_ns[round][0],
               (unsigned long long)cpu_ns[round][1], (unsigned long long)cpu_ns[round][2]);
    printf("]}\n");
}

int main(int argc, char **argv)
{
    int is_measure = argc == 4 && !strcmp(argv[1], "measure");

    if (!is_measure && (argc != 7 || strcmp(argv[1], "work") != 0 || atol(argv[3]) > ROUNDS_MAX)) {
        fputs("usage: bench_phases measure FILE SECONDS | work FILE ROUNDS GETCS PREADS PAUSES\n", stderr);
        return 2;
    }
    file = fopen(argv[2], "r");
    fd = open(argv[2], O_RDONLY);
    if (!file || fd < 0)
        die(argv[2]);
    if (is_measure)
        printf("[%ld, %ld, %.0f]\n", fill(do_getc, atof(argv[3])), fill(do_pread, atof(argv[3])),
               atof(argv[3]) * 1e9 / PAUSE_NS);
    else
        work(atol(argv[3]), (const long[PHASES]){atol(argv[4]), atol(argv[5]), atol(argv[6])});
    return 0;
}
