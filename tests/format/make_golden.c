/* SPDX-License-Identifier: MIT */
/* Writes a small trace with something of everything, always the same: the golden file of the
 * format.
 *
 *   make_golden stored|deflated|counters|list FILE
 *
 * `list` writes the events and rows as they are before they are encoded, one a line, for comparison
 * with what a reader reads. With `stored` the bytes must not change while the format has its
 * version; how deflate packs them may. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "make_golden.h"
#include "format/hash.h"

struct dft_name golden_names[NAMES];
struct dft_call golden_calls[CALLS];
FILE *golden_file;
struct dft_encoder *golden_encoder;
int golden_list;

static void name(unsigned position, struct dft_text text)
{
    golden_names[position] = (struct dft_name){.id = dft_name_id(text.bytes, text.length), .text = text};
}

static void call(unsigned position, struct dft_text text, uint8_t op)
{
    golden_calls[position] = (struct dft_call){
        .id = dft_name_id(text.bytes, text.length), .text = text, .op = op, .io = (uint8_t)dft_op_io(op)};
}

static void make_names(void)
{
    name(NAME_INPUT, TEXT("/data/input.bin"));
    name(NAME_OUTPUT, TEXT("/data/output.bin"));
    name(NAME_BYTES, TEXT("/data/\xff\xc3\xa9\n"));
    name(NAME_REGION, TEXT("app\0solve"));
    name(NAME_STEP, TEXT("app\0step"));
    name(NAME_LABEL, TEXT("app\0label"));
    name(NAME_RATIO, TEXT("app\0ratio"));
    name(NAME_CUT, TEXT("/data/long"));
    golden_names[NAME_CUT].cut = 1;
    golden_names[NAME_CUT].id = 12345;
    call(CALL_OPEN, TEXT("POSIX\0open"), DFT_OP_OPEN);
    call(CALL_READ, TEXT("POSIX\0read"), DFT_OP_READ);
    call(CALL_FREAD, TEXT("STDIO\0fread"), DFT_OP_FREAD);
    call(CALL_RENAME, TEXT("POSIX\0rename"), DFT_OP_RENAME);
    call(CALL_CLOSE, TEXT("POSIX\0close"), DFT_OP_CLOSE);
    golden_calls[CALL_REGION] = (struct dft_call){.id = golden_names[NAME_REGION].id, .op = DFT_OP_REGION};
}

/* Returns 0, or -1 and says why. */
int golden_put(long size, const void *const *block)
{
    if (size < 0 || fwrite(*block, 1, (size_t)size, golden_file) != (size_t)size) {
        fprintf(stderr, "make_golden: %s\n", size < 0 ? strerror((int)-size) : strerror(errno));
        return -1;
    }
    return 0;
}

static int put_process(void)
{
    static const uint64_t samples[2][2] = {{5 * SECOND, START}, {6 * SECOND, START + SECOND + 3}};
    struct dft_process process = {.key = KEY,
                                  .parent_key = 77,
                                  .pid = 4321,
                                  .ppid = 1,
                                  .rank = 0,
                                  .local_rank = -1,
                                  .world_size = 4,
                                  .start_ns = START,
                                  .clock_offset = -(int64_t)SECOND,
                                  .host = TEXT("node1"),
                                  .exe = TEXT("/usr/bin/app"),
                                  .command = TEXT("app\0-n\0\xe9\0"),
                                  .cwd = TEXT("/data"),
                                  .version = TEXT("0.1.0"),
                                  .options = TEXT("DFTRACER_ENABLE=1\n"),
                                  .boot_id = TEXT("b75244dd-9231-4a8b-9af6-c22aecd45f31"),
                                  .pid_namespace = 4026531836,
                                  .run_id = TEXT("node1-4321"),
                                  .role = TEXT("worker 3/8"),
                                  .kept = TEXT("\x80\x94\xeb\xdc\x03\x09\x05\0")};
    const void *block;

    if (golden_list)
        return 0;
    return golden_put(dft_encode_process(golden_encoder, &process, &block), &block) ||
           golden_put(dft_encode_clock(golden_encoder, KEY, samples, 2, &block), &block);
}

static int put_events(const struct dft_batch *batch)
{
    const void *block;

    for (uint32_t i = 0; golden_list && i < batch->count; i++) {
        const struct dft_event *e = &batch->events[i];

        fprintf(golden_file, "event %lu %lu %lu %lu %lu %lu %lu %ld %ld %lu %lu %u %u %u %u %d %u %u %u %u\n",
                e->start_ns, e->dur_ns, batch->calls[e->call].id, e->file, e->file2, e->region, e->size, e->result,
                e->offset, e->stack, e->id, e->calls, e->unit, e->flags, e->mode, e->fd, e->err, e->depth, e->phase,
                e->bits);
    }
    if (golden_list)
        return 0;
    return golden_put(dft_encode_events(golden_encoder, batch, &block), &block);
}

/* One event of every sort, with what no other has. */
static int put_few(void)
{
    uint64_t input = golden_names[NAME_INPUT].id, output = golden_names[NAME_OUTPUT].id;
    /* A line or two an event. */
    /* clang-format off */
    struct dft_event events[] = {
        {.start_ns = START + 100, .dur_ns = 50, .call = CALL_OPEN, .file = input, .result = 3, .fd = -1, .offset = -1,
         .flags = 02000102, .mode = 0644, .unit = 1, .calls = 1},
        {.start_ns = START + 200, .dur_ns = 10, .call = CALL_READ, .file = input, .size = 4096, .result = 4096, .fd = 3,
         .unit = 1, .calls = 1, .bits = DFT_BIT_SEQUENTIAL | DFT_BIT_CONSECUTIVE},
        {.start_ns = START + 300, .dur_ns = 10, .call = CALL_READ, .file = input, .size = 4096, .result = 100, .fd = 3,
         .offset = 4096, .unit = 1, .calls = 1, .bits = DFT_BIT_SEQUENTIAL, .region = golden_names[NAME_REGION].id,
         .depth = 2, .stack = UINT64_C(0xfedcba9876543210)},
        {.start_ns = START + 250, .dur_ns = 300, .call = CALL_READ, .file = output, .size = 4096, .result = -1,
         .err = 5, .fd = 9, .offset = -1, .unit = 1, .calls = 1},
        {.start_ns = START + 700, .dur_ns = 1, .call = CALL_FREAD, .file = output, .size = 800, .result = 100,
         .unit = 8, .calls = 25, .fd = 9, .offset = 1 << 20},
        {.start_ns = START + 800, .dur_ns = 1, .call = CALL_FREAD, .file = output, .size = 800, .result = 3, .unit = 8,
         .calls = 1, .fd = 9, .offset = (1 << 20) + 800},
        {.start_ns = START + 900, .dur_ns = 7, .call = CALL_RENAME, .file = output, .file2 = golden_names[NAME_CUT].id,
         .fd = -1, .offset = -1, .unit = 1, .calls = 1, .bits = DFT_BIT_VFORK | DFT_BIT_CUT},
        {.start_ns = START + 950, .dur_ns = 7, .call = CALL_RENAME, .file = golden_names[NAME_BYTES].id, .file2 = 999,
         .result = -1, .err = 18, .fd = -1, .offset = -1, .unit = 1, .calls = 1},
        {.start_ns = START + 150, .dur_ns = SECOND, .call = CALL_REGION, .id = 42, .fd = -1, .offset = -1, .unit = 1,
         .calls = 1, .phase = DFT_PHASE_ASYNC_BEGIN},
        {.start_ns = START + 160, .call = CALL_REGION, .id = UINT64_MAX, .fd = -1, .offset = -1, .unit = 1,
         .calls = 1, .phase = DFT_PHASE_FLOW_STEP},
        {.start_ns = START + 2 * SECOND, .call = CALL_CLOSE, .file = 888, .fd = 3, .offset = -1, .unit = 1, .calls = 1,
         .phase = DFT_PHASE_BEGIN, .bits = DFT_BIT_OPEN},
    };
    /* clang-format on */
    struct dft_arg args[] = {
        {.event = 1, .key = golden_names[NAME_STEP].id, .type = DFT_ARG_INT, .i = -5},
        {.event = 1, .key = golden_names[NAME_LABEL].id, .type = DFT_ARG_STRING, .s = TEXT("first\xfe")},
        {.event = 8, .key = golden_names[NAME_RATIO].id, .type = DFT_ARG_DOUBLE, .d = 0.1},
    };
    struct dft_batch batch = {.key = KEY,
                              .stream = 1,
                              .tid = 4321,
                              .first = 1,
                              .last = 12,
                              .events = events,
                              .count = sizeof events / sizeof *events,
                              .calls = golden_calls,
                              .ncalls = CALLS,
                              .names = golden_names,
                              .nnames = NAMES,
                              .args = args,
                              .nargs = sizeof args / sizeof *args};

    return put_events(&batch);
}

/* Enough of them for time columns to be coded. Random bits from a formula, not from the tests'
 * generator, so that they stay. */
static int put_many(void)
{
    static struct dft_event events[MANY];
    struct dft_batch batch = {.key = KEY,
                              .stream = 2,
                              .tid = 4322,
                              .first = 100,
                              .last = 219,
                              .events = events,
                              .count = MANY,
                              .calls = golden_calls,
                              .ncalls = CALLS,
                              .names = golden_names,
                              .nnames = 3};
    uint64_t now = START + SECOND, bits = 1;

    for (uint32_t i = 0; i < MANY; i++) {
        bits = bits * UINT64_C(6364136223846793005) + 1442695040888963407;
        events[i] = (struct dft_event){.start_ns = now += bits >> 55,
                                       .dur_ns = (bits >> 40 & 1023) << (bits >> 60),
                                       .call = CALL_READ,
                                       .file = golden_names[i / 7 % 3].id,
                                       .size = 65536,
                                       .result = i % 50 ? 65536 : (int64_t)(bits >> 50),
                                       .offset = (int64_t)(i * 65536),
                                       .fd = 3 + (int)(i / 7 % 3),
                                       .unit = 1,
                                       .calls = 1};
        now += events[i].dur_ns;
    }
    return put_events(&batch);
}

/* Counters of every sort, all at once and some alone. */
static int put_counters(void)
{
    struct dft_name texts[] = {
        {.text = TEXT("process\0read_bytes")}, {.text = TEXT("process\0rss_bytes")}, {.text = TEXT("app\0loss")}};
    struct dft_counter_series series[] = {{.unit = DFT_UNIT_BYTES, .kind = DFT_COUNTER_TOTAL},
                                          {.unit = DFT_UNIT_BYTES, .kind = DFT_COUNTER_LEVEL},
                                          {.unit = DFT_UNIT_NUMBER, .kind = DFT_COUNTER_LEVEL, .real = 1}};
    struct dft_counter_sample samples[] = {
        {START, 0, {4096}},
        {START, 1, {1 << 20}},
        {START, 2, {.number = 0.5}},
        {START + SECOND, 0, {12288}},
        {START + SECOND, 2, {.number = -1e300}},
        {START + 5, 1, {-1}},
        {START + 2 * SECOND, 0, {INT64_MAX}},
        {START + 2 * SECOND, 1, {0}},
        {START + 2 * SECOND, 2, {.number = 0.1}},
    };
    struct dft_counters counters = {.key = KEY,
                                    .tid = 4321,
                                    .first = 7,
                                    .series = series,
                                    .nseries = 3,
                                    .samples = samples,
                                    .count = sizeof samples / sizeof *samples,
                                    .names = texts,
                                    .nnames = 3};
    const void *block;

    for (unsigned i = 0; i < 3; i++)
        series[i].id = texts[i].id = dft_name_id(texts[i].text.bytes, texts[i].text.length);
    return golden_put(dft_encode_counters(golden_encoder, &counters, &block), &block);
}

/* A part of a range: every third event, and what such blocks are of. */
static int put_part(void)
{
    static struct dft_event events[MANY / 3];
    static uint32_t numbers[MANY / 3];
    struct dft_batch batch = {.key = KEY,
                              .stream = 3,
                              .tid = 4323,
                              .first = 500,
                              .last = 500 + MANY,
                              .events = events,
                              .count = MANY / 3,
                              .calls = golden_calls,
                              .ncalls = CALLS,
                              .names = golden_names,
                              .nnames = 3,
                              .part = 0x12345601,
                              .numbers = numbers};
    struct dft_group_record group = {.part = batch.part,
                                     .groups = 3,
                                     .name = TEXT("reads"),
                                     .rules = TEXT("reads: name=read\n"),
                                     .events = MANY / 3};
    const void *block;

    for (uint32_t i = 0; i < batch.count; i++) {
        numbers[i] = 3 * i + (i > 5);
        events[i] = (struct dft_event){.start_ns = START + 4 * SECOND + i * 1000,
                                       .dur_ns = 500,
                                       .call = CALL_READ,
                                       .file = golden_names[NAME_INPUT].id,
                                       .size = 100,
                                       .result = 100,
                                       .offset = (int64_t)(i * 100),
                                       .fd = 3,
                                       .unit = 1,
                                       .calls = 1};
    }
    return put_events(&batch) || (!golden_list && golden_put(dft_encode_group(golden_encoder, &group, &block), &block));
}

static int put_end(void)
{
    struct dft_end end = {.key = KEY,
                          .events = 130,
                          .overhead_ns = 12345,
                          .time_ns = START + 3 * SECOND,
                          .outside = 200,
                          .status = -9,
                          .exit_kind = DFT_ENDING_SIGNAL};
    const void *block;

    end.dropped[DFT_DROP_RING_FULL] = 3;
    end.dropped[DFT_DROP_TORN] = 1;
    end.misuse[DFT_MISUSE_END_ALONE] = 2;
    end.misuse[DFT_MISUSE_SPAN_OPEN] = 300;
    if (golden_list)
        return 0;
    return golden_put(dft_encode_names(golden_encoder, KEY, golden_names, NAMES, &block), &block) ||
           golden_put(dft_encode_end(golden_encoder, &end, &block), &block);
}

int main(int argc, char **argv)
{
    int failed;

    if (argc != 3 || !(golden_file = fopen(argv[2], "wb"))) {
        fprintf(stderr, "usage: make_golden stored|deflated|counters|list FILE\n");
        return 2;
    }
    golden_list = !strcmp(argv[1], "list");
    golden_encoder = sample_encoder(strcmp(argv[1], "stored") ? DFT_DEFLATE : DFT_STORE);
    make_names();
    if (!strcmp(argv[1], "counters"))
        failed = put_counters();
    else
        failed = put_process() || put_few() || put_many() || golden_put_buckets() || put_end() || put_part() ||
                 golden_put_facets();
    failed |= fclose(golden_file) != 0;
    sample_encoder_free(golden_encoder);
    return failed;
}
