/* SPDX-License-Identifier: MIT */
/* Times the encoder and the decoder of EVENTS blocks, and counts bytes an event: on a sequential
 * loop, on a mix of calls made up to look like tar or a build, and on the blocks of traces given as
 * arguments.
 *
 *   bench_codec [FILE.dft ...] */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format/block.h"
#include "format/decode.h"
#include "format/encode.h"
#include "format/hash.h"

#define EVENTS  DFT_BLOCK_EVENTS_MAX
#define BATCHES 64
#define ROUNDS  5

/* Blocks to be coded: batches, and what they point to. */
struct work {
    struct dft_batch *batches;
    uint32_t count;
    uint64_t events;
};

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

/* About log-normal around `typical`, as durations are. */
static uint64_t random_duration(uint64_t typical)
{
    double sum = 0;

    for (int i = 0; i < 6; i++)
        sum += (double)(random_next() % 1000) / 1000 - 0.5;
    return (uint64_t)((double)typical * exp2(sum * 1.4));
}

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void *must(void *memory)
{
    if (!memory || memory == MAP_FAILED) {
        perror("bench_codec");
        exit(1);
    }
    return memory;
}

static struct dft_call make_call(const char *text, uint32_t length, uint8_t op)
{
    return (struct dft_call){
        .id = dft_name_id(text, length), .text = {text, length}, .op = op, .io = (uint8_t)dft_op_io(op)};
}
#define CALL(text, op) make_call(text, sizeof text - 1, op)

enum { OPEN, READ, WRITE, CLOSE, STAT, CALLS };

static struct dft_call *make_calls(void)
{
    struct dft_call *calls = must(calloc(CALLS, sizeof *calls));

    calls[OPEN] = CALL("POSIX\0openat", DFT_OP_OPEN);
    calls[READ] = CALL("POSIX\0read", DFT_OP_READ);
    calls[WRITE] = CALL("POSIX\0write", DFT_OP_WRITE);
    calls[CLOSE] = CALL("POSIX\0close", DFT_OP_CLOSE);
    calls[STAT] = CALL("POSIX\0fstat", DFT_OP_STAT);
    return calls;
}

/* A batch under construction. */
struct making {
    struct dft_batch *batch;
    uint64_t now;
};

static struct dft_event *add(struct making *making, uint32_t call, uint64_t typical_gap, uint64_t typical)
{
    struct dft_event *event = &making->batch->events[making->batch->count++];

    making->now += random_duration(typical_gap);
    *event = (struct dft_event){.start_ns = making->now,
                                .dur_ns = random_duration(typical),
                                .call = call,
                                .calls = 1,
                                .unit = 1,
                                .fd = -1,
                                .offset = -1};
    making->now += event->dur_ns;
    return event;
}

static void access_file(struct making *making, uint32_t call, uint64_t file, int fd, int64_t offset, uint64_t size,
                        int64_t result)
{
    struct dft_event *event = add(making, call, 250, call == WRITE ? 1500 : 700);

    event->file = file;
    event->fd = fd;
    event->offset = offset;
    event->size = size;
    event->result = result;
    event->bits = DFT_BIT_SEQUENTIAL | DFT_BIT_CONSECUTIVE;
}

static void begin_batch(struct making *making, uint32_t number, uint32_t names)
{
    *making->batch = (struct dft_batch){.key = 1,
                                        .stream = 1,
                                        .tid = 1000,
                                        .first = (uint64_t)number * EVENTS,
                                        .last = (uint64_t)number * EVENTS + EVENTS - 1,
                                        .calls = make_calls(),
                                        .ncalls = CALLS};
    making->batch->events = must(calloc(EVENTS, sizeof(struct dft_event)));
    making->batch->names = must(calloc(names, sizeof(struct dft_name)));
}

static uint64_t add_name(struct making *making, const char *path)
{
    struct dft_name *name = &making->batch->names[making->batch->nnames++];

    name->text.bytes = must(strdup(path));
    name->text.length = (uint32_t)strlen(path);
    name->id = dft_name_id(path, name->text.length);
    return name->id;
}

static void make_loop(struct making *making, uint32_t number)
{
    uint64_t file;

    begin_batch(making, number, 1);
    file = dft_name_id("/data/input.bin", 15);
    if (!number)
        add_name(making, "/data/input.bin");
    for (uint32_t i = 0; i < EVENTS; i++)
        access_file(making, READ, file, 3, ((int64_t)number * EVENTS + i) * 4096, 4096, 4096);
}

/* Many small files read into a big one, each opened, looked at, read to its end and closed. */
static void make_mix(struct making *making, uint32_t number)
{
    uint64_t archive = dft_name_id("/data/archive.tar", 17);
    static int64_t written;

    begin_batch(making, number, EVENTS);
    if (!number)
        add_name(making, "/data/archive.tar");
    while (making->batch->count + 40 < EVENTS) {
        int64_t size = (int64_t)(random_next() % (1u << (9 + random_next() % 9))), at = 0;
        char path[128];
        uint64_t file;
        struct dft_event *event;

        snprintf(path, sizeof path, "/home/user/source/module%u/part%u/file_%x.c", (unsigned)(random_next() % 40),
                 (unsigned)(random_next() % 8), (unsigned)(random_next() & 0xfffff));
        file = add_name(making, path);
        event = add(making, OPEN, 1500, 2500);
        *event = (struct dft_event){.start_ns = event->start_ns,
                                    .dur_ns = event->dur_ns,
                                    .call = OPEN,
                                    .calls = 1,
                                    .unit = 1,
                                    .fd = -1,
                                    .offset = -1,
                                    .file = file,
                                    .result = 4,
                                    .flags = O_CLOEXEC};
        event = add(making, STAT, 150, 400);
        event->file = file;
        event->fd = 4;
        for (int64_t n = 1; n > 0; at += n) {
            n = size - at < 10240 ? size - at : 10240;
            access_file(making, READ, file, 4, at, 10240, n);
            if (n)
                access_file(making, WRITE, archive, 3, written, 10240, 10240);
            written += n ? 10240 : 0;
        }
        event = add(making, CLOSE, 200, 500);
        event->file = file;
        event->fd = 4;
    }
}

static struct work make_work(void (*make)(struct making *, uint32_t))
{
    struct work work = {must(calloc(BATCHES, sizeof(struct dft_batch))), BATCHES, 0};
    struct making making = {.now = UINT64_C(1700000000000000000)};

    for (uint32_t i = 0; i < BATCHES; i++) {
        making.batch = &work.batches[i];
        make(&making, i);
        work.events += making.batch->count;
    }
    return work;
}

/* The EVENTS blocks of a trace, in memory that lives to the end: each batch keeps its decoder. */
static struct work read_work(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct dft_skipped skipped = {0};
    struct dft_block_header header;
    struct work work = {0};
    size_t offset = 0, found;
    struct stat st;
    const char *bytes, *why;

    if (fd < 0 || fstat(fd, &st)) {
        perror(path);
        exit(1);
    }
    bytes = must(mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0));
    close(fd);
    while (dft_block_next(bytes, (size_t)st.st_size, &offset, &header, &found, &skipped)) {
        if (header.type != DFT_BLOCK_EVENTS || header.count > EVENTS)
            continue;
        work.batches = must(realloc(work.batches, (work.count + 1) * sizeof *work.batches));
        if (dft_decode_events(must(dft_decoder_create()), &header, bytes + found + sizeof header,
                              &work.batches[work.count], &why)) {
            fprintf(stderr, "%s: %s\n", path, why);
            exit(1);
        }
        work.events += work.batches[work.count++].count;
    }
    return work;
}

/* Multiples of a microsecond, as in what becomes of DFTracer's traces? */
static int is_coarse(const struct work *work)
{
    for (uint32_t i = 0; i < work->count; i++)
        for (uint32_t k = 0; k < work->batches[i].count; k++)
            if (work->batches[i].events[k].start_ns % 1000 || work->batches[i].events[k].dur_ns % 1000)
                return 0;
    return 1;
}

/* Brings a batch into the cache, where a drain has it. */
static void warm(const struct dft_batch *batch)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < batch->count; i++)
        sum += batch->events[i].start_ns + batch->events[i].bits;
    __asm__ volatile("" ::"r"(sum)); /* or nothing would be read */
}

/* All batches to blocks, one behind the other at `out`. Returns the bytes, and adds the time of
 * encoding alone to
 * *ns. */
static size_t encode_all(struct dft_encoder *encoder, const struct work *work, char *out, double *ns)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < work->count; i++) {
        const void *block;
        double start;
        long size;

        warm(&work->batches[i]);
        start = now_ns();
        size = dft_encode_events(encoder, &work->batches[i], &block);
        *ns += now_ns() - start;
        if (size < 0) {
            fprintf(stderr, "bench_codec: encode: %ld\n", size);
            exit(1);
        }
        memcpy(out + bytes, block, (size_t)size);
        bytes += (size_t)size;
    }
    return bytes;
}

static uint64_t decode_all(struct dft_decoder *decoder, const char *blocks, size_t bytes)
{
    struct dft_skipped skipped = {0};
    struct dft_block_header header;
    struct dft_batch batch;
    size_t offset = 0, found;
    uint64_t events = 0;
    const char *why;

    while (dft_block_next(blocks, bytes, &offset, &header, &found, &skipped)) {
        if (dft_decode_events(decoder, &header, blocks + found + sizeof header, &batch, &why)) {
            fprintf(stderr, "bench_codec: decode: %s\n", why);
            exit(1);
        }
        events += batch.count;
    }
    return events;
}

static void measure(const char *title, const struct work *work)
{
    static const struct {
        const char *title;
        enum dft_compression compression;
    } ways[] = {{"deflate", DFT_DEFLATE}, {"stored", DFT_STORE}};
    char *out = must(malloc(work->events * 64 + (64u << 20)));
    struct dft_decoder *decoder = must(dft_decoder_create());

    for (unsigned way = 0; way < sizeof ways / sizeof *ways && work->events; way++) {
        void *memory =
            must(mmap(NULL, dft_encoder_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        struct dft_encoder *encoder = dft_encoder_init(memory);
        double encode = 1e18, decode = 1e18;
        size_t bytes = 0;

        dft_encoder_set_compression(encoder, ways[way].compression);
        dft_encoder_coarse_times(encoder, is_coarse(work));
        for (int i = 0; i < ROUNDS; i++) {
            double put = 0, start;

            bytes = encode_all(encoder, work, out, &put);
            start = now_ns();
            if (decode_all(decoder, out, bytes) != work->events)
                exit(1);
            decode = now_ns() - start < decode ? now_ns() - start : decode;
            encode = put < encode ? put : encode;
        }
        printf("%-20s %-8s %8lu events  encode %5.1f ns  decode %5.1f ns (%.0f M/s)  %.2f bytes an event\n", title,
               ways[way].title, (unsigned long)work->events, encode / (double)work->events,
               decode / (double)work->events, (double)work->events / decode * 1e3,
               (double)bytes / (double)work->events);
        munmap(memory, dft_encoder_bytes());
    }
    dft_decoder_destroy(decoder);
    free(out);
}

int main(int argc, char **argv)
{
    struct work work = make_work(make_loop);

    measure("sequential loop", &work);
    work = make_work(make_mix);
    measure("mix of small files", &work);
    for (int i = 1; i < argc; i++) {
        const char *name = strrchr(argv[i], '/');

        work = read_work(argv[i]);
        measure(name ? name + 1 : argv[i], &work);
    }
    return 0;
}
