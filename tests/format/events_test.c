/* SPDX-License-Identifier: MIT */
/* EVENTS: what is encoded comes back, whatever it is; what cannot be encoded is refused. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder.h"
#include "sample.h"
#include "suites.h"

/* Encodes and decodes. Returns the bytes of the block; 0 and a message when something differs. */
static long round_trip(struct dft_encoder *encoder, const struct dft_batch *batch)
{
    struct dft_block_header header;
    const void *block, *payload;
    const char *why = NULL;
    struct dft_batch after;
    long size = dft_encode_events(encoder, batch, &block);

    payload = size > 0 ? sample_block(block, (size_t)size, &header) : NULL;
    if (!payload || size % 8 || header.type != DFT_BLOCK_EVENTS || header.count != batch->count)
        why = "no block of events";
    else if (dft_decode_events(sample_decoder, &header, payload, &after, &why) == 0)
        why = sample_batch_differs(batch, &after);
    if (why)
        printf("\n    %u events: %s\n", batch->count, why);
    return why ? 0 : size;
}

static void check_random(enum dft_compression compression, int wild)
{
    struct dft_encoder *encoder = sample_encoder(compression);

    for (unsigned i = 0; i < 150; i++) {
        uint32_t count = i < 20 ? i : i % 29 == 0 ? DFT_BLOCK_EVENTS_MAX : (uint32_t)sample_below(i < 100 ? 100 : 2000);
        struct dft_batch batch = sample_batch(count, wild);

        CU_ASSERT(round_trip(encoder, &batch) > 0);
        sample_batch_free(&batch);
    }
    sample_encoder_free(encoder);
}

static void test_tame(void)
{
    check_random(DFT_DEFLATE, 0);
}

static void test_wild(void)
{
    check_random(DFT_DEFLATE, 1);
}

static void test_stored(void)
{
    check_random(DFT_STORE, 0);
    check_random(DFT_STORE, 1);
}

/* Changes one thing about an event. */
static void change(struct dft_event *event, uint32_t ncalls)
{
    switch (sample_below(19)) {
    case 0:
        event->start_ns -= 1 + sample_below(1000);
        break;
    case 1:
        event->file = event->file ? 0 : 5;
        break;
    case 2:
        event->file2 ^= 7;
        break;
    case 3:
        event->region ^= 7;
        break;
    case 4:
        event->size++;
        break;
    case 5:
        event->result = sample_below(2) ? DFT_RESULT_UNKNOWN : (int64_t)sample_below(3) - 1;
        break;
    case 6:
        event->offset = -1;
        break;
    case 7:
        event->offset = (int64_t)sample_below(3);
        break;
    case 8:
        event->stack ^= 7;
        break;
    case 9:
        event->id ^= 7;
        break;
    case 10:
        event->call = (uint32_t)sample_below(ncalls);
        break;
    case 11:
        event->calls++;
        break;
    case 12:
        event->unit = 1 + (event->unit & 3);
        break;
    case 13:
        event->flags ^= 1;
        break;
    case 14:
        event->mode ^= 1;
        break;
    case 15:
        event->fd = (int32_t)sample_below(4) - 1;
        break;
    case 16:
        event->err ^= 2;
        break;
    case 17:
        event->depth ^= 1;
        break;
    default:
        event->bits ^= DFT_BIT_SEQUENTIAL;
    }
}

/* Runs of events that are as predicted (which the encoder takes at once), broken by all that can
 * break them. */
static void check_runs(int wild)
{
    struct dft_encoder *encoder = sample_encoder(DFT_STORE);

    for (unsigned round = 0; round < 300; round++) {
        struct dft_batch batch = sample_batch(400, wild);

        for (uint32_t i = 1; i < batch.count; i++) {
            struct dft_event *event = &batch.events[i];

            if (sample_below(40) == 0)
                continue;
            *event = event[-1];
            event->start_ns += event->dur_ns + sample_below(100);
            if (event->offset != -1)
                event->offset =
                    (int64_t)((uint64_t)event->offset + dft_event_bytes(event, batch.calls[event->call].op));
            if (sample_below(8) == 0)
                change(event, batch.ncalls);
        }
        CU_ASSERT(round_trip(encoder, &batch) > 0);
        sample_batch_free(&batch);
    }
    sample_encoder_free(encoder);
}

static void test_runs(void)
{
    check_runs(0);
    check_runs(1);
}

/* Times in microseconds, all of them or all but a few, and results that are not known: smaller than
 * without, and the same when read. */
static void test_coarse(void)
{
    struct dft_encoder *encoder = sample_encoder(DFT_STORE);

    for (unsigned round = 0; round < 100; round++) {
        struct dft_batch batch = sample_batch(400, 0);
        uint32_t odd = sample_below(2) ? (uint32_t)sample_below(batch.count) : UINT32_MAX;
        long coarse, fine;

        for (uint32_t i = 0; i < batch.count; i++) {
            struct dft_event *event = &batch.events[i];

            event->start_ns = event->start_ns / 1000 * 1000;
            event->dur_ns = event->dur_ns * 1000 + (i == odd);
            event->result = sample_below(2) ? DFT_RESULT_UNKNOWN : event->result;
        }
        dft_encoder_coarse_times(encoder, 1);
        coarse = round_trip(encoder, &batch);
        dft_encoder_coarse_times(encoder, 0);
        fine = round_trip(encoder, &batch);
        CU_ASSERT(coarse > 0 && fine > 0);
        /* An end that is none of these is the next one's begin too. */
        CU_ASSERT(odd != UINT32_MAX || batch.count < 64 || coarse + (long)batch.count < fine);
        sample_batch_free(&batch);
    }
    sample_encoder_free(encoder);
}

/* A thread that reads one file from beginning to end: the case that must be cheap. */
static void test_loop_is_small(void)
{
    struct dft_encoder *encoder = sample_encoder(DFT_DEFLATE);
    struct dft_batch batch = sample_batch(DFT_BLOCK_EVENTS_MAX, 0);
    uint64_t now = 1000;
    long size;

    for (uint32_t i = 0; i < batch.count; i++) {
        batch.events[i] = (struct dft_event){.start_ns = now += 300,
                                             .dur_ns = 500 + sample_below(64),
                                             .file = 77,
                                             .size = 4096,
                                             .result = 4096,
                                             .offset = (int64_t)i * 4096,
                                             .calls = 1,
                                             .unit = 1,
                                             .fd = 3};
        now += batch.events[i].dur_ns;
    }
    size = round_trip(encoder, &batch);
    CU_ASSERT(size > 0 && size < 2 * (long)batch.count);
    sample_batch_free(&batch);
    sample_encoder_free(encoder);
}

/* A loop of a few calls fills the block, up to its last events or not: its shapes are left out. */
static void test_loops_of_calls(void)
{
    struct dft_encoder *encoder = sample_encoder(DFT_STORE);
    struct dft_batch batch = sample_batch(140, 0), bare = batch;
    long sizes[7];

    bare.nnames = bare.nargs = 0;
    bare.ncalls = 1;
    for (uint32_t calls = 1; calls <= 6; calls++)
        for (uint32_t other = batch.count; other-- > 0;) {
            for (uint32_t i = 0; i < batch.count; i++)
                batch.events[i] = (struct dft_event){.start_ns = 1000 + 5 * i,
                                                     .phase = (uint8_t)(i % calls),
                                                     .bits = i == other ? DFT_BIT_CUT : 0,
                                                     .offset = -1,
                                                     .calls = 1,
                                                     .unit = 1,
                                                     .fd = -1};
            sizes[calls] = round_trip(encoder, &bare);
            CU_ASSERT(sizes[calls] > 0);
        }
    CU_ASSERT(sizes[4] + 100 < sizes[5]);
    sample_batch_free(&batch);
    sample_encoder_free(encoder);
}

static void test_one_encoder_many_sizes(void)
{
    struct dft_encoder *encoder = sample_encoder(DFT_DEFLATE);

    for (unsigned i = 0; i < 60; i++) {
        struct dft_batch batch = sample_batch(i % 2 ? DFT_BLOCK_EVENTS_MAX : (uint32_t)sample_below(5), i % 3 == 0);

        CU_ASSERT(round_trip(encoder, &batch) > 0);
        sample_batch_free(&batch);
    }
    sample_encoder_free(encoder);
}

static void check_refused(struct dft_encoder *encoder, const struct dft_batch *batch, long expected)
{
    const void *block;

    CU_ASSERT_EQUAL(dft_encode_events(encoder, batch, &block), expected);
}

static void test_refused(void)
{
    struct dft_encoder *encoder = sample_encoder(DFT_DEFLATE);
    struct dft_batch batch = sample_batch(100, 0), wrong = batch;
    struct dft_arg args[2] = {{.event = 5, .key = 1}, {.event = 4, .key = 1}};
    struct dft_event event = batch.events[7];
    uint32_t numbers[2] = {3, 3};

    wrong.count = DFT_BLOCK_EVENTS_MAX + 1;
    check_refused(encoder, &wrong, -EINVAL);
    batch.events[7].call = batch.ncalls;
    check_refused(encoder, &batch, -EINVAL);
    batch.events[7] = event;
    batch.events[7].phase = DFT_PHASE_LAST + 1;
    check_refused(encoder, &batch, -EINVAL);
    batch.events[7] = event;
    wrong = batch;
    wrong.args = args;
    wrong.nargs = 2;
    check_refused(encoder, &wrong, -EINVAL);
    args[0].event = batch.count;
    wrong.nargs = 1;
    check_refused(encoder, &wrong, -EINVAL);
    args[0].event = 0;
    args[0].type = 3;
    check_refused(encoder, &wrong, -EINVAL);
    wrong = batch;
    wrong.numbers = numbers;
    wrong.first = 10;
    wrong.last = 109;
    wrong.count = 2;
    wrong.nargs = 0;
    check_refused(encoder, &wrong, -EINVAL); /* the same number twice */
    numbers[1] = 100;
    check_refused(encoder, &wrong, -EINVAL); /* behind the range */
    numbers[1] = 99;
    CU_ASSERT(round_trip(encoder, &wrong) > 0);
    CU_ASSERT(round_trip(encoder, &batch) > 0); /* and is none the worse for it */
    sample_batch_free(&batch);
    sample_encoder_free(encoder);
}

static void test_too_large(void)
{
    struct dft_encoder *encoder = sample_encoder(DFT_DEFLATE);
    struct dft_batch batch = sample_batch(100, 0), large = batch;
    struct dft_arg *args = calloc(100, sizeof *args);
    char *text = malloc(60000);

    CU_ASSERT_FATAL(args && text);
    for (unsigned i = 0; i < 60000; i++)
        text[i] = (char)sample_random();
    for (unsigned i = 0; i < 100; i++)
        args[i] = (struct dft_arg){.type = DFT_ARG_STRING, .event = i, .s = {text, 60000}};
    large.args = args;
    large.nargs = 100;
    check_refused(encoder, &large, -E2BIG);
    large.nargs = 50; /* 3 MB */
    CU_ASSERT(round_trip(encoder, &large) > 0);
    CU_ASSERT(round_trip(encoder, &batch) > 0);
    free(args);
    free(text);
    sample_batch_free(&batch);
    sample_encoder_free(encoder);
}

int suite_events(void)
{
    CU_TestInfo tests[] = {
        {"random batches of programs", test_tame},
        {"random batches of anything", test_wild},
        {"stored", test_stored},
        {"runs of like events", test_runs},
        {"coarse times", test_coarse},
        {"a sequential loop is small", test_loop_is_small},
        {"loops of calls", test_loops_of_calls},
        {"one encoder, many sizes", test_one_encoder_many_sizes},
        {"refused", test_refused},
        {"too large", test_too_large},
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = {{"events", sample_decoder_begin, sample_decoder_end, NULL, NULL, tests},
                             CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
