/* SPDX-License-Identifier: MIT */
/* Random but reproducible batches, rows and records for the tests of the format. */
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "format/block.h"
#include "format/hash.h"

static uint64_t state = 1;

void sample_seed(uint64_t seed)
{
    state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

uint64_t sample_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

uint64_t sample_wild(void)
{
    uint64_t value = sample_random() >> sample_below(64);

    return sample_below(8) ? value : 0 - value;
}

void *sample_must(void *memory)
{
    if (!memory || memory == MAP_FAILED) {
        perror("sample");
        abort();
    }
    return memory;
}

static struct dft_text make_text(const char *bytes, size_t length)
{
    char *copy = sample_must(malloc(length + 1));

    memcpy(copy, bytes, length);
    return (struct dft_text){copy, (uint32_t)length};
}

struct dft_name sample_make_name(void)
{
    char text[256];
    int length;
    struct dft_name name = {0};

    switch (sample_below(12)) {
    case 0: /* only the id is known */
        name.id = sample_random();
        return name;
    case 1: /* a long one, cut */
        name.text.length = DFT_TEXT_MAX;
        name.text.bytes = sample_must(calloc(1, DFT_TEXT_MAX));
        name.id = sample_random();
        name.cut = 1;
        return name;
    case 2: /* not UTF-8, and empty ones */
        length = (int)sample_below(4);
        memcpy(text, "\xff\xfe\n", 3);
        break;
    default:
        length = snprintf(text, sizeof text, "/data/set%u/part%03u/%lx", (unsigned)sample_below(3),
                          (unsigned)sample_below(40), (unsigned long)sample_below(1000));
    }
    name.text = make_text(text, (size_t)length);
    name.id = dft_name_id(text, (size_t)length);
    return name;
}

struct dft_call sample_make_call(const struct dft_name *names, uint32_t nnames)
{
    struct dft_call call = {.op = (uint8_t)(sample_below(8) ? sample_below(44) : sample_below(256))};
    char text[32];
    int length;

    call.io = (uint8_t)(sample_below(4) ? (unsigned)dft_op_io(call.op) : sample_below(DFT_IO_COUNT));

    if (nnames && !sample_below(4)) {
        call.id = names[sample_below(nnames)].id;
        return call;
    }
    length = snprintf(text, sizeof text, "POSIX%ccall%u", 0, (unsigned)sample_below(100000));
    call.text = make_text(text, (size_t)length);
    call.id = dft_name_id(text, (size_t)length);
    return call;
}

uint64_t sample_pick_id(const struct dft_name *names, uint32_t nnames)
{
    return nnames ? names[sample_below(nnames)].id : sample_random();
}

static void make_wild_event(struct dft_event *event, const struct dft_batch *batch)
{
    const struct dft_name *names = batch->names;

    *event = (struct dft_event){
        .start_ns = sample_wild(),
        .dur_ns = sample_wild(),
        .file = sample_below(4)   ? sample_pick_id(names, batch->nnames)
                : sample_below(2) ? sample_random()
                                  : 0,
        .file2 = sample_below(4) ? 0 : sample_pick_id(names, batch->nnames),
        .region = sample_below(2) ? 0 : sample_pick_id(names, batch->nnames),
        .size = sample_wild(),
        .result = (int64_t)sample_wild(),
        .offset = (int64_t)sample_wild(),
        .stack = sample_below(4) ? 0 : sample_random(),
        .id = sample_below(4) ? 0 : sample_wild(),
        .call = (uint32_t)sample_below(batch->ncalls),
        .calls = (uint32_t)sample_wild(),
        .unit = (uint32_t)sample_wild(),
        .flags = (uint32_t)sample_wild(),
        .mode = (uint32_t)sample_wild(),
        .fd = (int32_t)sample_wild(),
        .err = (uint16_t)sample_wild(),
        .depth = (uint16_t)sample_wild(),
        .phase = (uint8_t)sample_below(DFT_PHASE_LAST + 1),
        .bits = (uint8_t)sample_below(64),
    };
}

static void make_tame_event(struct dft_event *event, const struct dft_batch *batch, uint64_t *now)
{
    uint32_t call = (uint32_t)sample_below(batch->ncalls < 3 ? batch->ncalls : 3);

    *now += sample_below(2000);
    *event = (struct dft_event){.start_ns = *now,
                                .dur_ns = sample_below(3000) * sample_below(20),
                                .file = batch->names[sample_below(batch->nnames < 6 ? batch->nnames : 6)].id,
                                .size = 4096,
                                .result = sample_below(20)  ? 4096
                                          : sample_below(2) ? 0
                                                            : -1,
                                .offset = (int64_t)(sample_below(50) * 4096),
                                .call = call,
                                .calls = 1,
                                .unit = 1,
                                .fd = 3 + (int)sample_below(3)};
    if (event->result < 0)
        event->err = sample_below(2) ? 5 : 28;
    *now += event->dur_ns;
}

static struct dft_arg make_arg(const struct dft_batch *batch)
{
    struct dft_arg arg = {.event = (uint32_t)sample_below(batch->count), .type = (uint8_t)sample_below(3)};
    char text[40];

    arg.key = sample_below(10) ? sample_pick_id(batch->names, batch->nnames) : 0;
    if (arg.type == DFT_ARG_INT)
        arg.i = (int64_t)sample_wild();
    else if (arg.type == DFT_ARG_DOUBLE)
        arg.d = (double)sample_below(1000) / 7;
    else
        arg.s = make_text(text, (size_t)snprintf(text, sizeof text, "%.*s", (int)sample_below(30),
                                                 "the value of an argument, cut anywhere"));
    return arg;
}

static int compare_args(const void *a, const void *b)
{
    uint32_t x = ((const struct dft_arg *)a)->event, y = ((const struct dft_arg *)b)->event;

    return x < y ? -1 : x > y;
}

/* A part of a range: numbers that leave some out. */
static void make_part(struct dft_batch *batch)
{
    uint32_t *numbers = sample_must(calloc(batch->count + 1u, sizeof *numbers)), next = 0;

    for (uint32_t i = 0; i < batch->count; i++) {
        numbers[i] = next + (uint32_t)(sample_below(3) ? 0 : sample_below(300));
        next = numbers[i] + 1;
    }
    batch->first >>= 1;
    batch->last = batch->first + next + sample_below(4);
    batch->numbers = numbers;
    batch->part = (uint32_t)sample_random();
}

struct dft_batch sample_batch(uint32_t count, int wild)
{
    struct dft_batch batch = {.key = sample_random(),
                              .stream = (uint32_t)sample_random(),
                              .tid = (uint32_t)sample_random(),
                              .first = sample_wild(),
                              .last = sample_wild(),
                              .count = count};
    uint64_t now = UINT64_C(1700000000000000000);

    batch.nnames = (uint32_t)(wild ? sample_below(40) : 1 + sample_below(20));
    batch.ncalls = (uint32_t)(1 + sample_below(30));
    batch.nargs = count && sample_below(2) ? (uint32_t)sample_below(50) : 0;
    batch.events = sample_must(calloc(count + 1, sizeof *batch.events));
    batch.names = sample_must(calloc(batch.nnames + 1, sizeof *batch.names));
    batch.calls = sample_must(calloc(batch.ncalls, sizeof *batch.calls));
    batch.args = sample_must(calloc(batch.nargs + 1, sizeof *batch.args));
    for (uint32_t i = 0; i < batch.nnames; i++)
        batch.names[i] = sample_make_name();
    for (uint32_t i = 0; i < batch.ncalls; i++)
        batch.calls[i] = sample_make_call(batch.names, batch.nnames);
    for (uint32_t i = 0; i < count; i++) {
        if (wild)
            make_wild_event(&batch.events[i], &batch);
        else
            make_tame_event(&batch.events[i], &batch, &now);
    }
    for (uint32_t i = 0; i < batch.nargs; i++)
        batch.args[i] = make_arg(&batch);
    qsort(batch.args, batch.nargs, sizeof *batch.args, compare_args);
    if (!sample_below(3))
        make_part(&batch);
    return batch;
}

void sample_batch_free(struct dft_batch *batch)
{
    free((uint32_t *)(uintptr_t)batch->numbers);
    for (uint32_t i = 0; i < batch->nnames; i++)
        free((char *)(uintptr_t)batch->names[i].text.bytes);
    for (uint32_t i = 0; i < batch->ncalls; i++)
        free((char *)(uintptr_t)batch->calls[i].text.bytes);
    for (uint32_t i = 0; i < batch->nargs; i++)
        if (batch->args[i].type == DFT_ARG_STRING)
            free((char *)(uintptr_t)batch->args[i].s.bytes);
    free(batch->events);
    free(batch->names);
    free(batch->calls);
    free(batch->args);
}

struct dft_encoder *sample_encoder(enum dft_compression compression)
{
    void *memory = sample_must(
        mmap(NULL, dft_encoder_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    struct dft_encoder *encoder = dft_encoder_init(memory);

    dft_encoder_set_compression(encoder, compression);
    return encoder;
}

void sample_encoder_free(struct dft_encoder *encoder)
{
    munmap(encoder, dft_encoder_bytes());
}

const void *sample_block(const void *bytes, size_t length, struct dft_block_header *header)
{
    struct dft_skipped skipped = {0};
    size_t offset = 0, found;

    if (!dft_block_next(bytes, length, &offset, header, &found, &skipped) || found || offset != length ||
        skipped.damaged || skipped.bytes || skipped.holes)
        return NULL;
    return (const char *)bytes + found + sizeof *header;
}

struct dft_decoder *sample_decoder;

int sample_decoder_begin(void)
{
    sample_decoder = dft_decoder_create();
    return !sample_decoder;
}

int sample_decoder_end(void)
{
    dft_decoder_destroy(sample_decoder);
    return 0;
}
