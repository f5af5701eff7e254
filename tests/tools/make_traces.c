/* SPDX-License-Identifier: MIT */
/* Makes traces for the tests of dftmerge, always the same for the same arguments: processes with
 * threads that run nested regions and calls on a few files, written with the library's own
 * encoders, EVENTS and BUCKETS block by block.
 *
 *   make_traces DIR KEY=VALUE...
 *
 * processes, threads, events (of a thread), block (events a block), interval_ms, seed: numbers.
 * ranks=1: the n-th process is rank n. hosts=N: processes are spread over N hosts. rows=0: no
 * BUCKETS. keep=0: no EVENTS (names and aggregates only). start=SECONDS of the first process.
 * end=0: no END record. slow=1: events far apart, a few of them hours long. same_time=1: all events
 * start together. live=1: the last part of each thread's events is not in blocks but in a live
 * file, which overlaps the blocks by a few records. lossy=1: END counts dropped events. reverse=1:
 * streams have descending tids. texts=0: no block says what the names of files and regions are.
 * transfers=1: some reads are the first half of a call between two files; the second half counts no
 * call. many=N: events are on N files in turn; long=N: whose paths are about N bytes longer. run=N:
 * what the processes say of their run (0: nothing). job=N, ppid=N, world=N: of processes with
 * ranks: the job's id (0: none), who started them, how many they are. mounts=1: processes have
 * recorded their mount points; mounts=2: those of the second one are others. mix=1: every other block
 * of a thread's events is kept as aggregates alone, as a process writes them that changes between
 * both: rows of calls in one further stream, histograms and rows of files in another, whose blocks
 * have other ranges. fold=1: some files are known by their directory alone. strides=1: rows of files
 * that say what was touched have met 4096 three times, and -8192 once. liar=N: whatever its name, each
 * call has the operation N, and a second file. tree=N: the n-th process was started by number
 * (n - 1) / N; with ranks, number 0 is a launcher without one and without a job, and only those
 * that it has started have ranks. salt=N: the same with other keys. together=1: all processes start at once.
 * turn=N: hosts have their names in another order. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "aggregator/aggregate.h"
#include "format/calls.h"
#include "format/encode.h"
#include "format/hash.h"
#include "format/kept.h"
#include "format/live_format.h"
#include "settings.h"

#define SECOND      UINT64_C(1000000000)
#define CALLS       14
#define FILES       12
#define NOT_FOLDED  8
#define REGIONS     4
#define TRANSFER    (CALLS + REGIONS) /* position of the halves of a call between two files */
#define ALL_CALLS   (TRANSFER + 2)
#define REGIONS_MAX 3
#define BLOCK_MAX   DFT_BLOCK_EVENTS_MAX
#define ALONE       1000u /* streams of aggregates alone are so much above those of events */

static struct {
    long processes, threads, events, block, interval_ms, seed, ranks, hosts, rows, keep, start, end, slow, same_time,
        live, lossy, reverse, texts, many, longer, job, ppid, world, transfers, run, mounts, mix, fold, strides, liar,
        tree, salt, together, turn;
} settings = {.processes = 2,
              .threads = 2,
              .events = 500,
              .block = 100,
              .interval_ms = 100,
              .seed = 1,
              .hosts = 1,
              .rows = 1,
              .keep = 1,
              .start = 1700000000,
              .end = 1,
              .texts = 1,
              .job = 4711,
              .ppid = 1};

static const struct setting names_of_settings[] = {
    {"processes", &settings.processes},
    {"threads", &settings.threads},
    {"events", &settings.events},
    {"block", &settings.block},
    {"interval_ms", &settings.interval_ms},
    {"seed", &settings.seed},
    {"ranks", &settings.ranks},
    {"hosts", &settings.hosts},
    {"rows", &settings.rows},
    {"keep", &settings.keep},
    {"start", &settings.start},
    {"end", &settings.end},
    {"slow", &settings.slow},
    {"same_time", &settings.same_time},
    {"reverse", &settings.reverse},
    {"many", &settings.many},
    {"long", &settings.longer},
    {"live", &settings.live},
    {"lossy", &settings.lossy},
    {"texts", &settings.texts},
    {"job", &settings.job},
    {"ppid", &settings.ppid},
    {"world", &settings.world},
    {"transfers", &settings.transfers},
    {"run", &settings.run},
    {"mounts", &settings.mounts},
    {"mix", &settings.mix},
    {"fold", &settings.fold},
    {"strides", &settings.strides},
    {"liar", &settings.liar},
    {"tree", &settings.tree},
    {"salt", &settings.salt},
    {"together", &settings.together},
    {"turn", &settings.turn},
};

static struct dft_call calls[CALLS];
#define FOLDED 3
static struct dft_name files[FILES], folded[FOLDED], regions[REGIONS], keys[3];
static struct dft_encoder *encoder;
static FILE *out;

#define TEXT(s) ((struct dft_text){s, sizeof s - 1})

static struct dft_name name_of(struct dft_text text)
{
    return (struct dft_name){.id = dft_name_id(text.bytes, text.length), .text = text};
}

static void make_names(void)
{
    static const struct {
        struct dft_text text;
        uint8_t op;
    } table[CALLS] = {{TEXT("POSIX\0openat"), DFT_OP_OPEN},   {TEXT("POSIX\0close"), DFT_OP_CLOSE},
                      {TEXT("POSIX\0read"), DFT_OP_READ},     {TEXT("POSIX\0write"), DFT_OP_WRITE},
                      {TEXT("POSIX\0pread"), DFT_OP_PREAD},   {TEXT("POSIX\0fstat"), DFT_OP_STAT},
                      {TEXT("POSIX\0rename"), DFT_OP_RENAME}, {TEXT("STDIO\0fread"), DFT_OP_FREAD},
                      {TEXT("STDIO\0fputc"), DFT_OP_FPUTS},   {TEXT("PROCESS\0execve"), DFT_OP_EXEC},
                      {TEXT("APP\0tick"), DFT_OP_INSTANT},    {TEXT("sys\0cpu"), DFT_OP_COUNTER},
                      {TEXT("POSIX\0lseek"), DFT_OP_SEEK},    {TEXT("POSIX\0mkdir"), DFT_OP_MKDIR}};
    static const struct dft_text paths[FILES] = {TEXT("/data/in/a.bin"),
                                                 TEXT("/data/in/b.bin"),
                                                 TEXT("/data/out/c.bin"),
                                                 TEXT("/data/out/with,comma\".csv"),
                                                 TEXT("/data/odd/\xff\xfe\n\t.txt"),
                                                 TEXT("/data/odd/\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
                                                 TEXT("/top"),
                                                 TEXT("/data/\xed\xa0\x80surrogate"),
                                                 TEXT("/x/1"),
                                                 TEXT("/x/2"),
                                                 TEXT("/x/y/3"),
                                                 TEXT("/scratch/job/deep/er/4")};
    static const struct dft_text directories[FOLDED] = {TEXT("/x/"), TEXT("/x/y/"), TEXT("/scratch/job/deep/er/")};
    static const struct dft_text inside[REGIONS] = {TEXT("APP\0solve"), TEXT("APP\0step"), TEXT("LIB\0step"),
                                                    TEXT("LIB\0pack")};
    static const struct dft_text words[3] = {TEXT("\0step"), TEXT("\0label"), TEXT("\0value")};

    for (int i = 0; i < CALLS; i++)
        calls[i] = (struct dft_call){.id = dft_name_id(table[i].text.bytes, table[i].text.length),
                                     .text = table[i].text,
                                     .op = settings.liar ? (uint8_t)settings.liar : table[i].op,
                                     .io = (uint8_t)dft_op_io(table[i].op)};
    for (int i = 0; i < FILES; i++)
        files[i] = name_of(paths[i]);
    for (int i = 0; i < FOLDED; i++)
        folded[i] = name_of(directories[i]);
    for (int i = 0; i < REGIONS; i++)
        regions[i] = name_of(inside[i]);
    for (int i = 0; i < 3; i++)
        keys[i] = name_of(words[i]);
}

static void put(long length, const void *const *block)
{
    if (length < 0 || fwrite(*block, 1, (size_t)length, out) != (size_t)length) {
        fprintf(stderr, "make_traces: %s\n", length < 0 ? strerror((int)-length) : strerror(errno));
        exit(1);
    }
}

/* --- the events of a thread ------------------------------------------------------------------- */

struct walk {
    uint64_t now;
    struct dft_event *events;
    uint32_t *files; /* of each event: its number, where there are many */
    struct dft_arg *args;
    uint32_t count, nargs;
    uint64_t open_regions[REGIONS_MAX], region_starts[REGIONS_MAX];
    uint16_t depth;
};

static uint64_t pause_ns(void)
{
    uint64_t n = random_below(UINT64_C(1) << (4 + random_below(settings.slow ? 36 : 22)));

    return settings.same_time ? 0 : n;
}

static struct dft_event *new_event(struct walk *walk, uint64_t start, uint32_t call)
{
    struct dft_event *event = &walk->events[walk->count++];

    *event = (struct dft_event){.start_ns = start, .call = call, .calls = 1, .unit = 1, .offset = -1, .fd = -1};
    event->depth = walk->depth;
    event->region = walk->depth ? walk->open_regions[walk->depth - 1] : 0;
    return event;
}

static void add_arg(struct walk *walk, struct dft_arg arg)
{
    arg.event = walk->count - 1;
    walk->args[walk->nargs++] = arg;
}

static void set_data(struct dft_event *event, uint8_t op)
{
    uint64_t access;

    event->size = random_below(1u << random_below(21));
    event->result = random_below(8) ? (int64_t)event->size : (int64_t)random_below(event->size + 1);
    if (op == DFT_OP_FREAD) {
        event->unit = 1 + (uint32_t)random_below(16);
        event->result = (int64_t)(event->size / event->unit);
    }
    if (op == DFT_OP_FPUTS) {
        event->calls = 1 + (uint32_t)random_below(200);
        event->size = (uint64_t)event->calls;
        event->result = (int64_t)event->size;
    }
    if (random_below(10))
        event->offset = (int64_t)random_below(1u << 30);
    access = random_below(20);
    event->bits = (uint8_t)((event->offset >= 0 ? access % 4 : 0) | (access < 4 ? DFT_BIT_TURN : 0));
}

#define LONGER_MAX  4000
#define MANY_LENGTH (48 + LONGER_MAX)

static struct dft_name many_file(uint32_t number, char text[MANY_LENGTH])
{
    int length = snprintf(text, 48, "/data/many/%03u/a-file-of-many-%08u", number % 997, number);

    for (int i = 0; i < settings.longer; i++) /* letters that tell the files' patterns apart */
        text[length++] = (char)('h' + (number >> i % 16) % 2);
    return name_of((struct dft_text){text, (uint32_t)length});
}

static uint64_t some_file(struct walk *walk)
{
    static uint32_t turn;
    char text[MANY_LENGTH];

    if (!settings.many) {
        uint64_t number = random_below(FILES);

        if (settings.fold && number >= NOT_FOLDED)
            return folded[number < 10 ? 0 : number - 9].id;
        return files[number].id;
    }
    walk->files[walk->count - 1] = turn++ % (uint32_t)settings.many;
    return many_file(walk->files[walk->count - 1], text).id;
}

/* The event becomes the half of a call that reads, and counts; another one is the half that writes
 * as many bytes. */
static void split_transfer(struct walk *walk, struct dft_event *event)
{
    struct dft_event *half = new_event(walk, event->start_ns + random_below(event->dur_ns + 1), TRANSFER + 1);

    event->call = TRANSFER;
    half->calls = 0;
    half->file = files[random_below(FILES)].id;
    half->size = half->result = event->result;
    half->offset = random_below(3) ? (int64_t)random_below(1u << 30) : -1;
}

static void call_event(struct walk *walk)
{
    uint32_t call = (uint32_t)random_below(CALLS);
    uint8_t op = calls[call].op;
    struct dft_event *event = new_event(walk, walk->now, call);
    enum dft_class class = dft_op_class(op);

    event->dur_ns = settings.same_time ? 0 : random_below(20) ? random_below(1u << random_below(18)) : pause_ns();
    if (op == DFT_OP_INSTANT || op == DFT_OP_COUNTER) {
        event->phase = op == DFT_OP_INSTANT ? DFT_PHASE_INSTANT : DFT_PHASE_COUNTER;
        event->dur_ns = 0;
        add_arg(walk, (struct dft_arg){.key = keys[2].id, .type = DFT_ARG_DOUBLE, .d = (double)random_below(1000) / 7});
        return;
    }
    if (op == DFT_OP_EXEC && random_below(2)) {
        event->phase = DFT_PHASE_BEGIN;
        event->dur_ns = 0;
    }
    if (class != DFT_CLASS_NONE)
        event->file = some_file(walk);
    else if (op == DFT_OP_EXEC && !settings.many)
        event->file = files[walk->now % NOT_FOLDED].id;
    if (op == DFT_OP_RENAME || settings.liar)
        event->file2 = files[random_below(FILES)].id;
    if (class == DFT_CLASS_READ || class == DFT_CLASS_WRITE)
        set_data(event, op);
    event->fd = (int32_t)random_below(40) - 1;
    if (op == DFT_OP_OPEN || op == DFT_OP_MKDIR) {
        event->flags = (uint32_t)random_below(4) * 64;
        event->mode = 0640;
    }
    if (!random_below(12) && event->phase == DFT_PHASE_COMPLETE) {
        event->result = -1;
        event->err = (uint16_t)(1 + random_below(40));
    }
    if (!random_below(9)) {
        add_arg(walk, (struct dft_arg){.key = keys[0].id, .type = DFT_ARG_INT, .i = (int64_t)random_below(99) - 50});
        add_arg(walk, (struct dft_arg){.key = keys[1].id, .type = DFT_ARG_STRING, .s = TEXT("\xff\"quoted\"\x01")});
    }
    walk->now += event->dur_ns;
    if (settings.transfers && op == DFT_OP_READ && !event->err && random_below(3))
        split_transfer(walk, event);
}

/* Events come in order of their ends; a region's when it ends. A region is a call whose position is
 * CALLS + its number.
 * */
static void end_region(struct walk *walk)
{
    uint16_t depth = --walk->depth;
    uint32_t number = 0;
    struct dft_event *event;

    while (regions[number].id != walk->open_regions[depth])
        number++;
    event = new_event(walk, walk->region_starts[depth], CALLS + number);
    event->dur_ns = walk->now - event->start_ns;
}

static void make_events(struct walk *walk, uint32_t count)
{
    while (walk->count < count) {
        walk->now += pause_ns();
        if (walk->depth < REGIONS_MAX && !random_below(8)) {
            walk->open_regions[walk->depth] = regions[random_below(REGIONS)].id;
            walk->region_starts[walk->depth++] = walk->now;
        } else if (walk->depth && !random_below(8)) {
            end_region(walk);
        } else {
            call_event(walk);
        }
    }
}

/* --- blocks ----------------------------------------------------------------------------------- */

static void put_buckets(struct dft_buckets *buckets)
{
    const void *block;

    dft_buckets_find_times(buckets);
    if (buckets->count)
        put(dft_encode_buckets(encoder, buckets, &block), &block);
}

/* Events do not say them. Returns the patterns, which the caller frees when the rows are written. */
static struct dft_pattern *add_strides(struct dft_row *rows, uint32_t count)
{
    struct dft_pattern *patterns = calloc(count + 1u, sizeof *patterns);

    if (!patterns)
        exit(1);
    for (uint32_t i = 0; i < count; i++) {
        if (!rows[i].pattern)
            continue;
        patterns[i].touched = rows[i].pattern->touched;
        patterns[i].strides[0] = (struct dft_stride){4096, 3};
        patterns[i].strides[1] = (struct dft_stride){-8192, 1};
        rows[i].pattern = &patterns[i];
    }
    return patterns;
}

static void put_rows(const struct dft_batch *batch)
{
    unsigned keep = DFT_KEEP_HISTOGRAMS | (settings.keep ? 0 : DFT_KEEP_FILES);
    struct dft_table *table = dft_table_create((uint64_t)settings.interval_ms * 1000000, keep);
    struct dft_buckets buckets = {.key = batch->key,
                                  .stream = batch->stream,
                                  .tid = batch->tid,
                                  .first = batch->first,
                                  .last = batch->last,
                                  .interval_ns = (uint64_t)settings.interval_ms * 1000000,
                                  .calls = batch->calls,
                                  .ncalls = batch->ncalls,
                                  .names = batch->names,
                                  .nnames = batch->nnames};
    struct dft_pattern *patterns = NULL;
    uint32_t position = 0;

    if (!table || dft_table_add(table, batch, &position) || dft_table_rows(table, &buckets.rows, &buckets.count))
        exit(1);
    if (settings.strides)
        patterns = add_strides(buckets.rows, buckets.count);
    put_buckets(&buckets);
    free(patterns);
    dft_table_destroy(table);
}

/* The same of what is kept as aggregates alone beside events: rows of calls in one stream; the
 * others in another one, those of three blocks together. */
static void put_rows_alone(const struct dft_batch *batch, int is_last)
{
    const unsigned keep = DFT_KEEP_HISTOGRAMS | DFT_KEEP_FILES;
    static struct dft_table *others;
    static struct dft_buckets later;
    static int blocks;
    uint64_t interval_ns = (uint64_t)settings.interval_ms * 1000000;
    struct dft_table *table = dft_table_create(interval_ns, keep);
    struct dft_buckets buckets = {.key = batch->key,
                                  .stream = ALONE + batch->stream,
                                  .tid = batch->tid,
                                  .first = batch->first,
                                  .last = batch->last,
                                  .interval_ns = interval_ns,
                                  .calls = batch->calls,
                                  .ncalls = batch->ncalls,
                                  .names = batch->names,
                                  .nnames = batch->nnames};
    uint32_t position = 0, all, ncalls = 0;

    if (!table || dft_table_add(table, batch, &position) || dft_table_rows(table, &buckets.rows, &all))
        exit(1);
    while (ncalls < all && buckets.rows[ncalls].kind == DFT_ROW_CALL)
        ncalls++;
    if (!others) {
        others = dft_table_create(interval_ns, keep);
        later = buckets;
        later.stream += ALONE;
        later.nnames = 0;
    }
    position = 0;
    if (!others || dft_table_merge_rows(others, buckets.rows + ncalls, all - ncalls, &position))
        exit(1);
    buckets.count = ncalls;
    put_buckets(&buckets);
    dft_table_destroy(table);
    if (++blocks % 3 && !is_last)
        return;
    later.last = batch->last;
    later.calls = batch->calls;
    if (dft_table_rows(others, &later.rows, &later.count))
        exit(1);
    put_buckets(&later);
    dft_table_destroy(others);
    others = NULL;
}

/* The names of the files of a block's events, behind those that are there. */
static uint32_t many_names(const struct walk *walk, uint32_t from, uint32_t to, struct dft_name *names, uint32_t count)
{
    static char texts[BLOCK_MAX][MANY_LENGTH];

    for (uint32_t i = from; settings.many && i < to; i++)
        if (walk->events[i].file)
            names[count++] = many_file(walk->files[i], texts[i - from]);
    return count;
}

/* One block: the names are defined where they are used first in the process. */
static void put_block(uint64_t key, uint32_t stream, uint32_t tid, uint64_t first, struct walk *walk, uint32_t from,
                      uint32_t to, uint8_t *defined)
{
    static const struct dft_text transfer = TEXT("POSIX\0sendfile");
    struct dft_call all_calls[ALL_CALLS];
    static struct dft_name names[FILES + REGIONS + 3 + FOLDED + BLOCK_MAX];
    struct dft_arg args[2 * BLOCK_MAX];
    struct dft_batch batch = {.key = key,
                              .stream = stream,
                              .tid = tid,
                              .first = first + from,
                              .last = first + to - 1,
                              .events = walk->events + from,
                              .count = to - from,
                              .calls = all_calls,
                              .ncalls = ALL_CALLS,
                              .names = names,
                              .args = args};
    const void *block;

    memcpy(all_calls, calls, sizeof calls);
    for (int i = 0; i < REGIONS; i++)
        all_calls[CALLS + i] = (struct dft_call){.id = regions[i].id, .op = DFT_OP_REGION};
    for (int i = 0; i < 2; i++)
        all_calls[TRANSFER + i] = (struct dft_call){.id = dft_name_id(transfer.bytes, transfer.length),
                                                    .text = transfer,
                                                    .op = i ? DFT_OP_WRITE : DFT_OP_READ,
                                                    .io = i ? DFT_IO_WRITE : DFT_IO_READ};
    if (!*defined && settings.texts) {
        memcpy(names, files, sizeof files);
        memcpy(names + FILES, regions, sizeof regions);
        memcpy(names + FILES + REGIONS, keys, sizeof keys);
        memcpy(names + FILES + REGIONS + 3, folded, sizeof folded);
        batch.nnames = FILES + REGIONS + 3 + FOLDED;
        *defined = 1;
    }
    batch.nnames = many_names(walk, from, to, names, batch.nnames);
    for (uint32_t i = 0; i < walk->nargs; i++) {
        if (walk->args[i].event < from || walk->args[i].event >= to)
            continue;
        args[batch.nargs] = walk->args[i];
        args[batch.nargs++].event -= from;
    }
    if (settings.mix) { /* each stream has numbers of its own */
        batch.first = from / (2 * (uint32_t)settings.block) * (uint64_t)settings.block;
        batch.last = batch.first + batch.count - 1;
    }
    if (settings.mix && from / settings.block % 2) {
        put_rows_alone(&batch, from + 2 * settings.block >= settings.events);
        return;
    }
    if (settings.keep)
        put(dft_encode_events(encoder, &batch, &block), &block);
    if (settings.rows)
        put_rows(&batch);
}

/* --- the live file ---------------------------------------------------------------------------- */

static uint16_t number_of_call(const struct dft_call *call)
{
    for (unsigned i = 1; i < DFT_CALL_COUNT; i++)
        if (dft_call_rows[i].length == call->text.length &&
            !memcmp(dft_call_text(&dft_call_rows[i]), call->text.bytes, call->text.length))
            return (uint16_t)i;
    return 0;
}

/* Reads of known files, so that a slot holds a record whole. Ticks are ns here. */
static void put_ring(FILE *live, uint32_t stream, uint32_t tid, uint64_t from, uint64_t to, uint64_t start)
{
    static char page[DFT_LIVE_PAGE];
    struct dft_ring *ring = (struct dft_ring *)page;
    struct dft_slot slots[64] = {0};

    memset(page, 0, sizeof page);
    *ring = (struct dft_ring){.magic = DFT_RING_MAGIC,
                              .stream = stream,
                              .tid = tid,
                              .capacity = 64,
                              .shift = 6,
                              .base = 0,
                              .head = to,
                              .tail = from};
    atomic_store(&ring->flight_call, number_of_call(&calls[2]));
    ring->flight_fd = 7;
    ring->flight_start = start + 1000000;
    ring->flight_file = files[0].id;
    atomic_store(&ring->depth, 1);
    ring->regions[0] = (struct dft_open_region){regions[0].id, start};
    for (uint64_t sequence = from; sequence < to; sequence++) {
        struct dft_slot *slot = &slots[sequence & 63];

        *slot = (struct dft_slot){.size = 4096,
                                  .start = start + sequence * 1000,
                                  .duration = 500,
                                  .slots = 1,
                                  .file = files[1].id,
                                  .result = 4096,
                                  .offset = (int64_t)sequence * 4096,
                                  .region = regions[0].id,
                                  .fd = 5,
                                  .depth = 1};
        slot->call = number_of_call(&calls[2]);
        atomic_store(&slot->marker, dft_ring_marker(ring, sequence, DFT_SLOT_VALID));
    }
    fwrite(page, sizeof page, 1, live);
    fwrite(slots, sizeof slots, 1, live);
}

/* Of a process of this boot and this PID namespace, with this trace. */
static void place_live(struct dft_live *head, const char *trace, FILE *live)
{
    FILE *boot = fopen("/proc/sys/kernel/random/boot_id", "r");
    struct stat st;

    if (boot && fgets(head->boot_id, sizeof head->boot_id, boot))
        head->boot_id[strcspn(head->boot_id, "\n")] = 0;
    if (boot)
        fclose(boot);
    if (!stat("/proc/self/ns/pid", &st))
        head->pid_namespace = st.st_ino;
    if (!fstat(fileno(live), &st)) {
        head->device = st.st_dev;
        head->inode = st.st_ino;
    }
    if (!stat(trace, &st)) {
        head->trace_device = st.st_dev;
        head->trace_inode = st.st_ino;
    }
}

static FILE *open_live(const char *path, uint64_t key, uint32_t pid)
{
    static char page[DFT_LIVE_PAGE];
    char *name;
    FILE *live = NULL;

    if (asprintf(&name, "%s.live", path) >= 0)
        live = fopen(name, "w");
    if (!live)
        exit(1);
    free(name);
    memset(page, 0, sizeof page);
    *(struct dft_live *)page = (struct dft_live){.magic = DFT_LIVE_MAGIC,
                                                 .version = DFT_LIVE_VERSION,
                                                 .state = DFT_LIVE_RUNNING,
                                                 .key = key,
                                                 .rows_id = dft_call_rows_id(),
                                                 .pid = pid,
                                                 .start_ns = 1,
                                                 .interval_ns = 1000000,
                                                 .clock = {.mult = UINT64_C(1) << 32}};
    place_live((struct dft_live *)page, path, live);
    fwrite(page, sizeof page, 1, live);
    return live;
}

/* --- processes -------------------------------------------------------------------------------- */

static uint64_t seed_of(long n)
{
    return UINT64_C(0xfeed000000000000) ^ ((uint64_t)settings.seed << 32) ^ (uint64_t)(n * 7919 + 1);
}

static uint64_t key_of(long n)
{
    uint64_t salted = (seed_of(n) + (uint64_t)settings.salt) * UINT64_C(0x9e3779b97f4a7c15);

    return settings.salt ? salted ^ salted >> 29 : seed_of(n);
}

static void put_tree(struct dft_process *process, long n)
{
    long parent = (n - 1) / settings.tree;

    if (n) {
        process->parent_key = key_of(parent);
        process->ppid = 1000 + (uint32_t)parent;
    } else if (settings.ranks) {
        process->exe = TEXT("/usr/bin/orterun");
        process->job_id = (struct dft_text){0};
    }
    if (settings.ranks)
        process->rank = n && !parent ? (int32_t)n - 1 : -1;
    if (process->rank < 0)
        process->world_size = 0;
}

static void put_process(uint64_t key, long n, uint64_t start)
{
    uint8_t kept[DFT_KEPT_PAIR_MAX];
    char host[32], job[24], run[32], command[] = "./app\0--odd\nargument\0";
    struct dft_process process = {.key = key,
                                  .pid = 1000 + (uint32_t)n,
                                  .ppid = (uint32_t)settings.ppid,
                                  .rank = -1,
                                  .local_rank = -1,
                                  .start_ns = start,
                                  .exe = TEXT("/usr/bin/app"),
                                  .cwd = TEXT("/data"),
                                  .version = TEXT("test")};
    const void *block;

    snprintf(host, sizeof host, "node%ld", (n + settings.turn) % settings.hosts);
    process.host = dft_text_from(host);
    process.command = (struct dft_text){command, sizeof command - 1};
    if (settings.ranks) {
        process.rank = (int32_t)n;
        process.world_size = (uint32_t)(settings.world ? settings.world : settings.processes + 1); /* one is missing */
        snprintf(job, sizeof job, "%ld", settings.job);
        if (settings.job)
            process.job_id = dft_text_from(job);
    }
    if (settings.tree)
        put_tree(&process, n);
    snprintf(run, sizeof run, "run-%ld", settings.run);
    if (settings.run)
        process.run_id = dft_text_from(run);
    if (settings.mounts)
        process.mounts = settings.mounts > 1 && n == 1 ? TEXT("/ xfs\n/x nfs\n/data lustre\n")
                                                       : TEXT("/ ext4\n/data tmpfs\n/data/o lustre\n/x nfs\n"
                                                              "/data lustre\n/scratch/\\152ob beegfs\n/data/odd/\n");
    if (settings.mix)
        process.kept = (struct dft_text){(const char *)kept,
                                         dft_kept_put(kept, 1000000, DFT_KEEP_SELECTED, DFT_KEEP_WHY_SETTINGS)};
    put(dft_encode_process(encoder, &process, &block), &block);
}

static void put_end(uint64_t key, uint64_t now)
{
    struct dft_end end = {.key = key, .overhead_ns = 12345, .time_ns = now, .exit_kind = DFT_ENDING_EXIT};
    const void *block;

    end.events = (uint64_t)(settings.threads * settings.events);
    if (settings.lossy)
        end.dropped[DFT_DROP_RING_FULL] = 3;
    put(dft_encode_end(encoder, &end, &block), &block);
}

static void make_thread(uint64_t key, long n, long t, uint64_t start, uint8_t *defined, FILE *live, uint64_t *end)
{
    uint32_t count = (uint32_t)settings.events, block = (uint32_t)settings.block;
    uint32_t tid = 1000 + (uint32_t)n * 10 + (uint32_t)(settings.reverse ? settings.threads - 1 - t : t);
    struct walk walk = {.now = start + (settings.same_time ? 0 : random_below(1000000))};

    walk.events = calloc(count + 1, sizeof *walk.events);
    walk.files = calloc(count + 1, sizeof *walk.files);
    walk.args = calloc(2 * (size_t)count + 2, sizeof *walk.args);
    if (!walk.events || !walk.files || !walk.args)
        exit(1);
    make_events(&walk, count);
    for (uint32_t from = 0; from < count; from += block)
        put_block(key, (uint32_t)t, tid, 0, &walk, from, from + block < count ? from + block : count, defined);
    if (live)
        put_ring(live, (uint32_t)t, tid, count - 10, count + 20, walk.now);
    if (walk.now > *end)
        *end = walk.now;
    free(walk.events);
    free(walk.files);
    free(walk.args);
}

static void make_process(const char *directory, long n)
{
    uint64_t start = (uint64_t)settings.start * SECOND + (uint64_t)(settings.together ? 0 : n) * 1234567, end = start;
    uint64_t key = key_of(n);
    char path[4096];
    uint8_t defined = 0;
    FILE *live = NULL;

    snprintf(path, sizeof path, "%s/t%ld-%ld.dft", directory, settings.seed, n);
    random_state = seed_of(n) | 1;
    out = fopen(path, "w");
    if (!out)
        exit(1);
    put_process(key, n, start);
    if (settings.live)
        live = open_live(path, key, 1000 + (uint32_t)n);
    for (long t = 0; t < settings.threads; t++)
        make_thread(key, n, t, start, &defined, live, &end);
    if (settings.end && !settings.live)
        put_end(key, end);
    if (fclose(out) || (live && fclose(live)))
        exit(1);
}

int main(int argc, char **argv)
{
    void *memory = mmap(NULL, dft_encoder_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    for (int i = 2; i < argc; i++)
        if (setting_set(names_of_settings, sizeof names_of_settings / sizeof *names_of_settings, argv[i])) {
            fprintf(stderr, "make_traces: %s: no such setting\n", argv[i]);
            return 2;
        }
    if (argc < 2 || memory == MAP_FAILED || settings.block > BLOCK_MAX || settings.longer > LONGER_MAX)
        return 2;
    mkdir(argv[1], 0777);
    encoder = dft_encoder_init(memory);
    make_names();
    for (long n = 0; n < settings.processes; n++)
        make_process(argv[1], n);
    return 0;
}
