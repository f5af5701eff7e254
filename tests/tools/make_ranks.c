/* SPDX-License-Identifier: MIT */
/* Makes the traces of a job of many ranks, always the same for the same arguments, with troubles
 * that are known: for the tests of dftmerge ranks and of clocks.
 *
 *   make_ranks DIR KEY=VALUE...
 *
 * ranks, hosts, seconds, rate (rounds a second; a round is fstat, openat, read, write),
 * interval_ms, seed: numbers. slow=RANK at=SECONDS for=SECONDS factor=N call=0..3 (of the round):
 * that rank's calls take N times as long, from then, so long (0: to the end). others=SECONDS: from
 * then on those of all other ranks do, too. stuck=RANK at=SECONDS for=SECONDS: one openat takes
 * that long. more=RANK at=SECONDS: eight times the bytes from then. late=RANK by=MS: begins later.
 * skip=RANK: not there. noise=0: durations without chance. noise=2: also bursts, in which all of a
 * rank's calls take 3 to 30 times as long: one second in twenty, by chance. rows=0, keep=0: no
 * BUCKETS, no EVENTS. unranked=1: no process says its rank. clocks=0: no CLOCK records. skew_ms,
 * drift_ppm: host n's real-time clock is wrong by n times skew_ms, its monotonic clock is slow by
 * (n - hosts / 2) times drift_ppm. spread_ms: rank n is loaded n times that later.
 *
 * Every second all ranks are in the region "barrier", whose ends are simultaneous but for 2
 * microseconds. The offset of each read is the true time of its start, in ns since the start of the
 * job. Ranks end when they are done. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "aggregator/aggregate.h"
#include "format/encode.h"
#include "format/hash.h"
#include "settings.h"

#define SECOND  INT64_C(1000000000)
#define START   (INT64_C(1700000000) * SECOND)
#define ROUND   4
#define CALLS   (ROUND + 1)
#define TEXT(s) ((struct dft_text){s, sizeof s - 1})

static struct {
    long ranks, hosts, seconds, rate, interval_ms, seed, slow, at, length, factor, call, others, stuck, more, late, by,
        skip, noise, rows, keep, unranked, clocks, skew_ms, drift_ppm, spread_ms;
} settings = {.ranks = 4,
              .hosts = 2,
              .seconds = 60,
              .rate = 20,
              .interval_ms = 1000,
              .seed = 1,
              .slow = -1,
              .at = 20,
              .factor = 50,
              .call = 1,
              .stuck = -1,
              .more = -1,
              .late = -1,
              .by = 5000,
              .skip = -1,
              .noise = 1,
              .rows = 1,
              .keep = 1,
              .clocks = 1};

#define SETTING(field)                                                                                                 \
    {                                                                                                                  \
#field, &settings.field                                                                                        \
    }
static const struct setting names_of_settings[] = {SETTING(ranks),    SETTING(hosts),       SETTING(seconds),
                                                   SETTING(rate),     SETTING(interval_ms), SETTING(seed),
                                                   SETTING(slow),     SETTING(at),          {"for", &settings.length},
                                                   SETTING(factor),   SETTING(call),        SETTING(others),
                                                   SETTING(stuck),    SETTING(more),        SETTING(late),
                                                   SETTING(by),       SETTING(skip),        SETTING(noise),
                                                   SETTING(rows),     SETTING(keep),        SETTING(unranked),
                                                   SETTING(clocks),   SETTING(skew_ms),     SETTING(drift_ppm),
                                                   SETTING(spread_ms)};

/* fstat, openat, read, write: usual durations, ops, bytes. */
static const struct {
    struct dft_text text;
    uint8_t op;
    int64_t usual_ns;
    uint64_t bytes;
} table[CALLS] = {{TEXT("POSIX\0fstat"), DFT_OP_STAT, 10000, 0},
                  {TEXT("POSIX\0openat"), DFT_OP_OPEN, 200000, 0},
                  {TEXT("POSIX\0read"), DFT_OP_READ, 1000000, 65536},
                  {TEXT("POSIX\0write"), DFT_OP_WRITE, 500000, 8192},
                  {TEXT("MPI\0barrier"), DFT_OP_REGION, 0, 0}};

static struct dft_call calls[CALLS];
static struct dft_encoder *encoder;
static FILE *out;

static void put(long length, const void *const *block)
{
    if (length < 0 || fwrite(*block, 1, (size_t)length, out) != (size_t)length) {
        fprintf(stderr, "make_ranks: %s\n", length < 0 ? strerror((int)-length) : strerror(errno));
        exit(1);
    }
}

/* --- one rank --------------------------------------------------------------------------------- */

struct rank {
    long number, host;
    uint64_t key;
    int64_t load; /* true time, ns since START */
    int64_t now;
    double slowness; /* of the host's monotonic clock */
    struct dft_name file;
    struct dft_event *events;
    uint32_t count;
    uint64_t first;
};

/* What the process's clock shows at a true time. */
static int64_t shown(const struct rank *rank, int64_t time)
{
    return START + rank->load + rank->host * settings.skew_ms * 1000000 + (time - rank->load) -
           llround(rank->slowness * (double)(time - rank->load));
}

static int64_t monotonic(const struct rank *rank, int64_t time)
{
    return (1000 + rank->host) * SECOND + time - llround(rank->slowness * (double)time);
}

static void put_rows(const struct dft_batch *batch)
{
    uint64_t interval = (uint64_t)settings.interval_ms * 1000000;
    struct dft_table *rows = dft_table_create(interval, DFT_KEEP_HISTOGRAMS | (settings.keep ? 0 : DFT_KEEP_FILES));
    struct dft_buckets buckets = {.key = batch->key,
                                  .tid = batch->tid,
                                  .first = batch->first,
                                  .last = batch->last,
                                  .interval_ns = interval,
                                  .calls = batch->calls,
                                  .ncalls = batch->ncalls,
                                  .names = batch->names,
                                  .nnames = batch->nnames};
    uint32_t position = 0;
    const void *block;

    if (!rows || dft_table_add(rows, batch, &position) || dft_table_rows(rows, &buckets.rows, &buckets.count))
        exit(1);
    for (uint32_t i = 0; i < batch->count; i++) {
        uint64_t start = batch->events[i].start_ns, end = start + batch->events[i].dur_ns;

        buckets.start = !i || start < buckets.start ? start : buckets.start;
        buckets.end = end > buckets.end ? end : buckets.end;
    }
    put(dft_encode_buckets(encoder, &buckets, &block), &block);
    dft_table_destroy(rows);
}

static void flush_events(struct rank *rank)
{
    struct dft_batch batch = {.key = rank->key,
                              .tid = 100 + (uint32_t)rank->number,
                              .first = rank->first,
                              .last = rank->first + rank->count - 1,
                              .events = rank->events,
                              .count = rank->count,
                              .calls = calls,
                              .ncalls = CALLS,
                              .names = &rank->file,
                              .nnames = 1};
    const void *block;

    if (!rank->count)
        return;
    if (settings.keep)
        put(dft_encode_events(encoder, &batch, &block), &block);
    if (settings.rows)
        put_rows(&batch);
    rank->first += rank->count;
    rank->count = 0;
}

static struct dft_event *add_event(struct rank *rank, uint32_t call, int64_t start, int64_t end)
{
    struct dft_event *event;

    if (rank->count == DFT_BLOCK_EVENTS_MAX)
        flush_events(rank);
    event = &rank->events[rank->count++];
    *event = (struct dft_event){.start_ns = (uint64_t)shown(rank, start),
                                .dur_ns = (uint64_t)(shown(rank, end) - shown(rank, start)),
                                .call = call,
                                .calls = 1,
                                .unit = 1,
                                .offset = -1,
                                .fd = -1};
    return event;
}

/* How many times as long calls of this second take; the same whatever was drawn before. */
static int64_t burst_of(const struct rank *rank)
{
    uint64_t hash = (rank->key + (uint64_t)(rank->now / SECOND)) * UINT64_C(0x9e3779b97f4a7c15);

    hash = (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    hash ^= hash >> 32;
    return settings.noise < 2 || hash % 20 ? 1 : (int64_t)(3 + hash / 20 % 28);
}

/* Chance as it is with file systems: most near the usual, one in a hundred ten times as long. */
static int64_t duration_of(const struct rank *rank, uint32_t call)
{
    int64_t ns = table[call].usual_ns;
    int is_time =
        rank->now >= settings.at * SECOND && (!settings.length || rank->now < (settings.at + settings.length) * SECOND);

    if (settings.noise)
        ns = ns * (int64_t)(60 + random_below(80)) / 100 * (random_below(100) ? 1 : 10) * burst_of(rank);
    if (rank->number == settings.slow && call == (uint32_t)settings.call && is_time)
        ns *= settings.factor;
    if (rank->number != settings.slow && call == (uint32_t)settings.call && settings.others &&
        rank->now >= settings.others * SECOND)
        ns *= settings.factor;
    return ns;
}

static void make_call(struct rank *rank, uint32_t call)
{
    int64_t ns = duration_of(rank, call);
    struct dft_event *event;

    if (rank->number == settings.stuck && call == 1 && rank->now >= settings.at * SECOND) {
        ns = settings.length * SECOND;
        settings.stuck = -1;
    }
    event = add_event(rank, call, rank->now, rank->now + ns);
    event->file = rank->file.id;
    event->size = table[call].bytes;
    if (rank->number == settings.more && rank->now >= settings.at * SECOND)
        event->size *= 8;
    event->result = (int64_t)event->size;
    if (call == 2)
        event->offset = rank->now;
    rank->now += ns;
}

static void make_rounds(struct rank *rank)
{
    int64_t period = SECOND / settings.rate, end = settings.seconds * SECOND, next = SECOND;

    while (rank->now < end) {
        int64_t round = rank->now;

        for (uint32_t call = 0; call < ROUND; call++)
            make_call(rank, call);
        if (rank->now < round + period)
            rank->now = round + period;
        if (rank->now >= next) { /* the barrier: all leave together, unless late already */
            int64_t leave = next + SECOND / 2 + (int64_t)random_below(2000);

            if (leave > rank->now) {
                add_event(rank, ROUND, rank->now, leave);
                rank->now = leave;
            }
            next += SECOND;
            while (next <= rank->now)
                next += SECOND;
        }
    }
}

static void put_clock(const struct rank *rank, int64_t time)
{
    uint64_t sample[1][2];
    const void *block;

    sample[0][0] = (uint64_t)monotonic(rank, time);
    sample[0][1] = (uint64_t)(START + time + rank->host * settings.skew_ms * 1000000 +
                              (int64_t)random_below(300)); /* read after it */
    if (settings.clocks)
        put(dft_encode_clock(encoder, rank->key, (const uint64_t(*)[2])sample, 1, &block), &block);
}

static void put_process(const struct rank *rank)
{
    char host[32];
    struct dft_process process = {.key = rank->key,
                                  .pid = 1000 + (uint32_t)rank->number,
                                  .ppid = 1,
                                  .rank = settings.unranked ? -1 : (int32_t)rank->number,
                                  .local_rank = -1,
                                  .world_size = settings.unranked ? 0 : (uint32_t)settings.ranks,
                                  .start_ns = (uint64_t)shown(rank, rank->load),
                                  .exe = TEXT("/usr/bin/solver"),
                                  .version = TEXT("test"),
                                  .options = settings.keep ? TEXT("") : TEXT("DFTRACER_ENABLE_AGGREGATION=1\n")};
    const void *block;

    snprintf(host, sizeof host, "node%ld", rank->host);
    process.host = dft_text_from(host);
    process.job_id = settings.unranked ? (struct dft_text){0} : TEXT("4711");
    process.clock_offset = shown(rank, rank->load) - monotonic(rank, rank->load);
    put(dft_encode_process(encoder, &process, &block), &block);
}

static void make_rank(const char *directory, long number)
{
    struct rank rank = {.number = number, .host = number * settings.hosts / settings.ranks};
    struct dft_end end = {.exit_kind = DFT_ENDING_EXIT};
    char path[4096], file[64];
    const void *block;

    rank.key = UINT64_C(0xace0000000000000) ^ ((uint64_t)settings.seed << 32) ^ (uint64_t)(number + 1);
    random_state = rank.key * 2 + 1;
    for (int i = 0; i < 4; i++)
        random_below(2);
    rank.load = number * settings.spread_ms * 1000000 + (number == settings.late ? settings.by * 1000000 : 0);
    rank.now = rank.load + 1000000;
    rank.slowness = (double)(rank.host - settings.hosts / 2) * (double)settings.drift_ppm * 1e-6;
    rank.events = calloc(DFT_BLOCK_EVENTS_MAX, sizeof *rank.events);
    snprintf(path, sizeof path, "%s/solver-%ld-%ld.dft", directory, settings.seed, number);
    snprintf(file, sizeof file, "/scratch/job/r%ld/data.bin", number);
    rank.file = (struct dft_name){.id = dft_name_id(file, strlen(file)), .text = dft_text_from(file)};
    out = fopen(path, "w");
    if (!out || !rank.events)
        exit(1);
    put_process(&rank);
    put_clock(&rank, rank.load);
    make_rounds(&rank);
    flush_events(&rank);
    put_clock(&rank, rank.now);
    end.key = rank.key;
    end.events = rank.first;
    end.time_ns = (uint64_t)shown(&rank, rank.now);
    put(dft_encode_end(encoder, &end, &block), &block);
    free(rank.events);
    if (fclose(out))
        exit(1);
}

int main(int argc, char **argv)
{
    void *memory = mmap(NULL, dft_encoder_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    for (int i = 2; i < argc; i++)
        if (setting_set(names_of_settings, sizeof names_of_settings / sizeof *names_of_settings, argv[i])) {
            fprintf(stderr, "make_ranks: %s: no such setting\n", argv[i]);
            return 2;
        }
    if (argc < 2 || memory == MAP_FAILED)
        return 2;
    mkdir(argv[1], 0777);
    encoder = dft_encoder_init(memory);
    for (int i = 0; i < CALLS; i++)
        calls[i] = (struct dft_call){.id = dft_name_id(table[i].text.bytes, table[i].text.length),
                                     .text = table[i].text,
                                     .op = table[i].op,
                                     .io = (uint8_t)dft_op_io(table[i].op)};
    for (long n = 0; n < settings.ranks; n++)
        if (n != settings.skip)
            make_rank(argv[1], n);
    return 0;
}
